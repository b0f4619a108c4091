//! How the clocks of an app are saved: as maps with names, and read with care.
//!
//! A clock that was saved may hold anything: what would stop an app or break its arithmetic, such as a speed that is no
//! number or a step of no length, is refused.

use std::any::Any;
use std::borrow::Cow;
use std::time::Duration;

use super::{Fixed, Real, Time, Virtual, WRAP_PERIOD};
use crate::codec::Data;
use crate::resources::{ResourceSaving, SavedAs};

/// A clock of the library.
trait Clock: Sized + Send + Sync + 'static {
    fn name() -> Cow<'static, str>;
    fn to_data(&self) -> Vec<(&'static str, Data)>;
    fn from_data(data: &Data) -> Result<Self, String>;
}

/// How the time of a clock is saved, if it is one of the library.
pub(super) fn saving<C: Send + Sync + 'static>() -> Option<ResourceSaving> {
    fn of<K: Clock>(clock: &dyn Any) -> Option<ResourceSaving> {
        let is_it = clock.is::<std::marker::PhantomData<K>>();
        is_it.then(|| ResourceSaving::through::<Time<K>>(K::name, "", 1))
    }
    let clock: &dyn Any = &std::marker::PhantomData::<C>;
    of::<()>(clock)
        .or_else(|| of::<Real>(clock))
        .or_else(|| of::<Virtual>(clock))
        .or_else(|| of::<Fixed>(clock))
}

impl<C: Clock> SavedAs for Time<C> {
    type Saved = Data;

    fn to_saved(&self) -> Data {
        let mut fields = vec![
            ("delta", duration(self.delta)),
            ("elapsed", duration(self.elapsed)),
            ("wrap_period", duration(self.wrap_period)),
            ("frame", Data::from(self.frame)),
            ("alpha", Data::from(self.alpha)),
        ];
        fields.extend(self.clock.to_data());
        Data::map(fields)
    }

    fn from_saved(data: Data) -> Result<Self, String> {
        let alpha = number(&data, "alpha")?;
        if !(0.0..=1.0).contains(&alpha) {
            return Err(format!("field `alpha`: {alpha} is not between 0 and 1"));
        }
        Ok(Self {
            clock: C::from_data(&data)?,
            delta: read_duration(&data, "delta")?,
            elapsed: read_duration(&data, "elapsed")?,
            // Clocks that were saved before there was a period have none.
            wrap_period: match data.get("wrap_period") {
                Some(_) => positive(&data, "wrap_period")?,
                None => WRAP_PERIOD,
            },
            frame: integer(field(&data, "frame")?).ok_or("field `frame` is no count")?,
            alpha,
        })
    }
}

impl Clock for () {
    fn name() -> Cow<'static, str> {
        "phalanx.Time".into()
    }
    fn to_data(&self) -> Vec<(&'static str, Data)> {
        Vec::new()
    }
    fn from_data(_: &Data) -> Result<Self, String> {
        Ok(())
    }
}

impl Clock for Real {
    fn name() -> Cow<'static, str> {
        "phalanx.Time.Real".into()
    }
    fn to_data(&self) -> Vec<(&'static str, Data)> {
        Vec::new()
    }
    /// The instants of another process mean nothing here.
    fn from_data(_: &Data) -> Result<Self, String> {
        Ok(Self::default())
    }
}

impl Clock for Virtual {
    fn name() -> Cow<'static, str> {
        "phalanx.Time.Virtual".into()
    }

    fn to_data(&self) -> Vec<(&'static str, Data)> {
        vec![
            ("paused", self.paused.into()),
            ("speed", self.speed.into()),
            ("effective", self.effective.into()),
            ("max_delta", duration(self.max_delta)),
            ("is_limit_set", self.is_limit_set.into()),
        ]
    }

    fn from_data(data: &Data) -> Result<Self, String> {
        let speed = |name| match number(data, name)? {
            speed if speed.is_finite() && speed >= 0.0 => Ok(speed),
            speed => Err(format!("field `{name}`: time cannot run at speed {speed}")),
        };
        Ok(Self {
            paused: flag(data, "paused")?,
            speed: speed("speed")?,
            effective: speed("effective")?,
            max_delta: positive(data, "max_delta")?,
            is_limit_set: flag(data, "is_limit_set")?,
        })
    }
}

impl Clock for Fixed {
    fn name() -> Cow<'static, str> {
        "phalanx.Time.Fixed".into()
    }

    fn to_data(&self) -> Vec<(&'static str, Data)> {
        vec![
            ("timestep", duration(self.timestep)),
            ("overstep", duration(self.overstep)),
            ("steps", self.steps.into()),
        ]
    }

    fn from_data(data: &Data) -> Result<Self, String> {
        Ok(Self {
            timestep: positive(data, "timestep")?,
            overstep: read_duration(data, "overstep")?,
            steps: integer(field(data, "steps")?).ok_or("field `steps` is no count")?,
        })
    }
}

/// Seconds and nanoseconds: a clock may have more nanoseconds than 64 bits can count.
fn duration(duration: Duration) -> Data {
    Data::List(vec![duration.as_secs().into(), duration.subsec_nanos().into()])
}

fn field<'d>(data: &'d Data, name: &str) -> Result<&'d Data, String> {
    data.get(name).ok_or_else(|| format!("field `{name}` is missing"))
}

fn integer(data: &Data) -> Option<u64> {
    match data {
        Data::UInt(value) => Some(*value),
        other => other.as_i64()?.try_into().ok(),
    }
}

fn number(data: &Data, name: &str) -> Result<f64, String> {
    field(data, name)?.as_f64().ok_or_else(|| format!("field `{name}` is no number"))
}

fn flag(data: &Data, name: &str) -> Result<bool, String> {
    match field(data, name)? {
        Data::Bool(value) => Ok(*value),
        _ => Err(format!("field `{name}` is no bool")),
    }
}

fn read_duration(data: &Data, name: &str) -> Result<Duration, String> {
    let wrong = || format!("field `{name}` is not a number of seconds and one of nanoseconds");
    let Some([secs, nanos]) = field(data, name)?.as_list() else { return Err(wrong()) };
    let nanos = integer(nanos).and_then(|nanos| u32::try_from(nanos).ok());
    match (integer(secs), nanos) {
        (Some(secs), Some(nanos)) if nanos < 1_000_000_000 => Ok(Duration::new(secs, nanos)),
        _ => Err(wrong()),
    }
}

fn positive(data: &Data, name: &str) -> Result<Duration, String> {
    match read_duration(data, name)? {
        Duration::ZERO => Err(format!("field `{name}` is zero: give a length of time")),
        length => Ok(length),
    }
}
