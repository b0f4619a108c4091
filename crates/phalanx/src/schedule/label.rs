//! Labels: names for phases and for sets of systems.
//!
//! A label is a value of a type made for the purpose. Two labels are the same when their types are, and they
//! print the same with `{:?}`. Every function is also the set of the systems made from it, so that
//! `movement.after(input)` needs no label.

use std::any::TypeId;
use std::fmt::{self, Debug};

use crate::system::{ExclusiveSystemParamFunction, IsExclusive, IsFunction, SystemParamFunction};

/// Names a schedule: a phase of an app.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
/// struct Turn;
///
/// let mut world = World::new();
/// let mut schedule = Schedule::new(Turn);
/// schedule.add_systems(|| println!("a turn"));
/// world.add_schedule(schedule);
/// world.run_schedule(Turn);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a phase",
    note = "add `#[derive(ScheduleLabel, Debug)]` to `{Self}`"
)]
pub trait ScheduleLabel: Debug + Send + Sync + 'static {
    /// The label without its type.
    fn label(&self) -> Label {
        Label { of: TypeId::of::<Self>(), text: format!("{self:?}") }
    }
}

/// Names a set of systems.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
/// enum Stage {
///     Input,
///     Physics,
/// }
///
/// let mut app = App::new();
/// app.configure_sets(Update, (Stage::Input, Stage::Physics).chain());
/// app.add_systems(Update, (|| println!("second")).in_set(Stage::Physics));
/// app.add_systems(Update, (|| println!("first")).in_set(Stage::Input));
/// app.step(0.1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a set of systems",
    note = "add `#[derive(SystemSet, Debug)]` to `{Self}`, or name a system's function"
)]
pub trait SystemSet: Debug + Send + Sync + 'static {
    /// The set without its type.
    fn set(&self) -> SetId {
        SetId(Label { of: TypeId::of::<Self>(), text: format!("{self:?}") }, Names::Label)
    }
}

/// A label of whatever type.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Label {
    of: TypeId,
    text: String,
}

impl Label {
    /// The label of a type with this text.
    pub(crate) fn of<T: ?Sized + 'static>(text: String) -> Self {
        Self { of: TypeId::of::<T>(), text }
    }
}

impl Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A set of systems: a label, or all systems of one function.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SetId(Label, Names);

/// What a set is named by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Names {
    Label,
    Function,
}

impl SetId {
    pub(crate) fn of_systems(key: TypeId, name: &str) -> Self {
        Self(Label { of: key, text: name.to_owned() }, Names::Function)
    }

    fn of_function<F: 'static>() -> Self {
        Self::of_systems(TypeId::of::<F>(), &crate::system::names::short_function::<F>())
    }

    /// Whether a function names the set, and no label.
    pub(crate) fn is_function(&self) -> bool {
        self.1 == Names::Function
    }

    /// The type of the label, or of the function.
    pub(crate) fn key(&self) -> TypeId {
        self.0.of
    }
}

impl Debug for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Something that `before` and `after` can name: a set, or the function of a system.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names neither a system nor a set of systems",
    note = "name a function, or a value whose type has `#[derive(SystemSet, Debug)]`"
)]
pub trait IntoSystemSet<Marker> {
    /// The set named.
    fn into_set(self) -> SetId;
}

impl<S: SystemSet> IntoSystemSet<()> for S {
    fn into_set(self) -> SetId {
        self.set()
    }
}

impl<M, F: SystemParamFunction<M>> IntoSystemSet<(IsFunction, M)> for F {
    fn into_set(self) -> SetId {
        SetId::of_function::<F>()
    }
}

impl<M, F: ExclusiveSystemParamFunction<M>> IntoSystemSet<(IsExclusive, M)> for F {
    fn into_set(self) -> SetId {
        SetId::of_function::<F>()
    }
}
