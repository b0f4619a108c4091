//! Conditions: systems that return `bool` or `Result<bool, E>`, and how two become one.
//!
//! Which functions are conditions is said in `asked`. A condition made of two runs as one system. Those that end in
//! `then` or `else` do not evaluate the second one when the first decides; the others always evaluate both, which
//! matters for conditions that remember, like `resource_changed`.

use phalanx_store::Tick;

use super::access::Access;
use super::asked::ConditionShape;
use super::combine::{Map, as_two_systems};
use super::failed::ParamError;
use super::read_only::ReadOnlySystem;
use super::traits::{IntoSystem, Mode, System, run_in_own_session};
use crate::world::{SharedWorld, World};

/// A system without input that returns `bool` or `Result<bool, E>`, for `run_if`. An error goes to the error handler, and
/// counts as false.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource)]
/// struct Lives(u32);
///
/// fn left(lives: Res<Lives>) -> bool {
///     lives.0 > 0
/// }
/// fn play(mut lives: ResMut<Lives>) {
///     lives.0 -= 1;
/// }
///
/// let mut app = App::new();
/// app.insert_resource(Lives(1));
/// app.add_systems(Update, play.run_if(resource_exists::<Lives>.and_then(left)));
/// app.step(0.0);
/// app.step(0.0);
/// assert_eq!(app.world().resource::<Lives>().0, 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "expected a function that returns `bool`",
    note = "a condition is a function whose parameters are system parameters, and which returns `bool` or `Result<bool, E>`"
)]
pub trait SystemCondition<Marker>: ConditionShape<Marker> {
    /// The condition as a system.
    type Condition: System<In = (), Out = bool>;

    /// Makes the system.
    fn into_condition(self) -> Self::Condition;

    /// Whether both hold; the second is evaluated only if the first does.
    fn and_then<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "and", decides: Some(false), of: |a, b| a && b })
    }

    /// As [`and_then`](Self::and_then).
    fn and<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        self.and_then(other)
    }

    /// Whether both hold; both are evaluated.
    fn and_eager<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "and", decides: None, of: |a, b| a && b })
    }

    /// Whether one of them does not hold; the second is evaluated only if the first does.
    fn nand_then<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "nand", decides: Some(false), of: |a, b| !(a && b) })
    }

    /// As [`nand_then`](Self::nand_then).
    fn nand<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        self.nand_then(other)
    }

    /// Whether one of them does not hold; both are evaluated.
    fn nand_eager<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "nand", decides: None, of: |a, b| !(a && b) })
    }

    /// Whether one of them holds; the second is evaluated only if the first does not.
    fn or_else<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "or", decides: Some(true), of: |a, b| a || b })
    }

    /// As [`or_else`](Self::or_else).
    fn or<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        self.or_else(other)
    }

    /// Whether one of them holds; both are evaluated.
    fn or_eager<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "or", decides: None, of: |a, b| a || b })
    }

    /// Whether neither holds; the second is evaluated only if the first does not.
    fn nor_else<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "nor", decides: Some(true), of: |a, b| !(a || b) })
    }

    /// As [`nor_else`](Self::nor_else).
    fn nor<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        self.nor_else(other)
    }

    /// Whether neither holds; both are evaluated.
    fn nor_eager<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "nor", decides: None, of: |a, b| !(a || b) })
    }

    /// Whether exactly one of them holds.
    fn xor<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "xor", decides: None, of: |a, b| a != b })
    }

    /// Whether both hold or neither does.
    fn xnor<M, C: ConditionShape<M> + SystemCondition<M>>(
        self,
        other: C,
    ) -> JoinedCondition<Self::Condition, C::Condition> {
        joint(self, other, Rule { name: "xnor", decides: None, of: |a, b| a == b })
    }
}

/// The opposite of a condition.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(not(paused)));
/// app.step(0.1);
/// ```
pub fn not<M, C: ConditionShape<M> + SystemCondition<M>>(
    condition: C,
) -> Map<C::Condition, fn(bool) -> bool> {
    condition.into_condition().map(|holds| !holds)
}

/// Whether both conditions hold; the second is evaluated only if the first does.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(and(not(paused), run_once)));
/// app.step(0.1);
/// ```
pub fn and<M, N, A, B>(first: A, second: B) -> JoinedCondition<A::Condition, B::Condition>
where
    A: ConditionShape<M> + SystemCondition<M>,
    B: ConditionShape<N> + SystemCondition<N>,
{
    first.and_then(second)
}

/// Whether one of the conditions holds; the second is evaluated only if the first does not.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(or(paused, run_once)));
/// app.step(0.1);
/// ```
pub fn or<M, N, A, B>(first: A, second: B) -> JoinedCondition<A::Condition, B::Condition>
where
    A: ConditionShape<M> + SystemCondition<M>,
    B: ConditionShape<N> + SystemCondition<N>,
{
    first.or_else(second)
}

/// How two answers become one.
#[derive(Clone, Copy)]
struct Rule {
    name: &'static str,
    /// The first answer with which the second condition is not evaluated; then the two count as equal.
    decides: Option<bool>,
    of: fn(bool, bool) -> bool,
}

/// Two conditions as one.
#[derive(Clone)]
pub struct JoinedCondition<A, B> {
    first: A,
    second: B,
    rule: Rule,
    name: String,
    access: Access,
}

fn joint<M, N, A: SystemCondition<M>, B: SystemCondition<N>>(
    first: A,
    second: B,
    rule: Rule,
) -> JoinedCondition<A::Condition, B::Condition> {
    let (first, second) = (first.into_condition(), second.into_condition());
    let name = format!("{} {} {}", first.name(), rule.name, second.name());
    JoinedCondition { first, second, rule, name, access: Access::new() }
}

impl<A, B> ReadOnlySystem for JoinedCondition<A, B>
where
    A: ReadOnlySystem<In = (), Out = bool>,
    B: ReadOnlySystem<In = (), Out = bool>,
{
}

impl<A, B> JoinedCondition<A, B> {
    /// What follows from the first answer, and the second if it is needed.
    fn answer(
        &mut self,
        first: bool,
        ask: impl FnOnce(&mut B) -> Result<bool, ParamError>,
    ) -> Result<bool, ParamError> {
        let second = if self.rule.decides == Some(first) { first } else { ask(&mut self.second)? };
        Ok((self.rule.of)(first, second))
    }
}

impl<A: System<In = (), Out = bool>, B: System<In = (), Out = bool>> System for JoinedCondition<A, B> {
    type In = ();
    type Out = bool;

    as_two_systems!();
    fn run(&mut self, (): (), world: &SharedWorld<'_>, now: Tick) -> Result<bool, ParamError> {
        let first = self.first.run((), world, now)?;
        self.answer(first, |second| second.run((), world, now))
    }
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<bool, ParamError> {
        if self.mode() != Mode::Exclusive {
            return run_in_own_session(self, world, |system, shared, now| system.run((), shared, now));
        }
        let first = self.first.run_alone((), world)?;
        self.answer(first, |second| second.run_alone((), world))
    }
}
