// Systems that give their result to others.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Text(&'static str);

fn parse(text: Res<Text>) -> Result<i32, std::num::ParseIntError> {
    text.0.parse::<i32>()
}
fn judge(In(parsed): In<Result<i32, std::num::ParseIntError>>) -> Option<i32> {
    parsed.ok().filter(|number| *number >= 0)
}
fn report(In(number): In<Option<i32>>, text: Res<Text>, mut out: ResMut<Out>) {
    match number {
        Some(number) => writeln!(out.0, "{:?} is {number}", text.0),
        None => writeln!(out.0, "{:?} is nothing", text.0),
    }
    .unwrap();
}
fn next(mut text: ResMut<Text>) {
    text.0 = match text.0 {
        "12" => "-5",
        "-5" => "apple",
        _ => "12",
    };
}
fn length(text: Res<Text>) -> usize {
    text.0.len()
}
fn long(In(length): In<usize>) -> bool {
    length > 2
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().insert_resource(Text("12"));
    app.add_systems(
        Update,
        (
            parse.pipe(judge).pipe(report),
            length.map(|length| length * 2).pipe(|In(twice): In<usize>, mut out: ResMut<Out>| {
                writeln!(out.0, "twice the length is {twice}").unwrap();
            }),
            (|mut out: ResMut<Out>| writeln!(out.0, "long").unwrap()).run_if(length.pipe(long)),
            next,
        )
            .chain(),
    );
    for _ in 0..4 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
