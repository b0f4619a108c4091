//! A pool of 128 components.
use phalanx::prelude::*;

#[derive(Component)]
struct C<const N: usize>;

#[derive(Pool)]
struct Everything {
    f0: Option<C<0>>, f1: Option<C<1>>, f2: Option<C<2>>, f3: Option<C<3>>, f4: Option<C<4>>, f5: Option<C<5>>,
    f6: Option<C<6>>, f7: Option<C<7>>, f8: Option<C<8>>, f9: Option<C<9>>, f10: Option<C<10>>,
    f11: Option<C<11>>, f12: Option<C<12>>, f13: Option<C<13>>, f14: Option<C<14>>, f15: Option<C<15>>,
    f16: Option<C<16>>, f17: Option<C<17>>, f18: Option<C<18>>, f19: Option<C<19>>, f20: Option<C<20>>,
    f21: Option<C<21>>, f22: Option<C<22>>, f23: Option<C<23>>, f24: Option<C<24>>, f25: Option<C<25>>,
    f26: Option<C<26>>, f27: Option<C<27>>, f28: Option<C<28>>, f29: Option<C<29>>, f30: Option<C<30>>,
    f31: Option<C<31>>, f32: Option<C<32>>, f33: Option<C<33>>, f34: Option<C<34>>, f35: Option<C<35>>,
    f36: Option<C<36>>, f37: Option<C<37>>, f38: Option<C<38>>, f39: Option<C<39>>, f40: Option<C<40>>,
    f41: Option<C<41>>, f42: Option<C<42>>, f43: Option<C<43>>, f44: Option<C<44>>, f45: Option<C<45>>,
    f46: Option<C<46>>, f47: Option<C<47>>, f48: Option<C<48>>, f49: Option<C<49>>, f50: Option<C<50>>,
    f51: Option<C<51>>, f52: Option<C<52>>, f53: Option<C<53>>, f54: Option<C<54>>, f55: Option<C<55>>,
    f56: Option<C<56>>, f57: Option<C<57>>, f58: Option<C<58>>, f59: Option<C<59>>, f60: Option<C<60>>,
    f61: Option<C<61>>, f62: Option<C<62>>, f63: Option<C<63>>, f64: Option<C<64>>, f65: Option<C<65>>,
    f66: Option<C<66>>, f67: Option<C<67>>, f68: Option<C<68>>, f69: Option<C<69>>, f70: Option<C<70>>,
    f71: Option<C<71>>, f72: Option<C<72>>, f73: Option<C<73>>, f74: Option<C<74>>, f75: Option<C<75>>,
    f76: Option<C<76>>, f77: Option<C<77>>, f78: Option<C<78>>, f79: Option<C<79>>, f80: Option<C<80>>,
    f81: Option<C<81>>, f82: Option<C<82>>, f83: Option<C<83>>, f84: Option<C<84>>, f85: Option<C<85>>,
    f86: Option<C<86>>, f87: Option<C<87>>, f88: Option<C<88>>, f89: Option<C<89>>, f90: Option<C<90>>,
    f91: Option<C<91>>, f92: Option<C<92>>, f93: Option<C<93>>, f94: Option<C<94>>, f95: Option<C<95>>,
    f96: Option<C<96>>, f97: Option<C<97>>, f98: Option<C<98>>, f99: Option<C<99>>, f100: Option<C<100>>,
    f101: Option<C<101>>, f102: Option<C<102>>, f103: Option<C<103>>, f104: Option<C<104>>,
    f105: Option<C<105>>, f106: Option<C<106>>, f107: Option<C<107>>, f108: Option<C<108>>,
    f109: Option<C<109>>, f110: Option<C<110>>, f111: Option<C<111>>, f112: Option<C<112>>,
    f113: Option<C<113>>, f114: Option<C<114>>, f115: Option<C<115>>, f116: Option<C<116>>,
    f117: Option<C<117>>, f118: Option<C<118>>, f119: Option<C<119>>, f120: Option<C<120>>,
    f121: Option<C<121>>, f122: Option<C<122>>, f123: Option<C<123>>, f124: Option<C<124>>,
    f125: Option<C<125>>, f126: Option<C<126>>, f127: Option<C<127>>,
}

pub fn main() {
    const LAST: u128 = 1 << 127;
    assert_eq!((Everything::DECLARED, Everything::REQUIRED), (u128::MAX, 0));
    assert_eq!(<Everything as phalanx::pool::Declares<C<127>>>::SLOT, LAST.trailing_zeros());
}
