//! Names for people: types and functions without the path to them.
//!
//! `&mut game::units::Orc` becomes `&mut Orc`; a closure keeps the function it stands in. Nothing depends on
//! these names but messages and pictures.

/// The name of a type, without paths.
pub(crate) fn short_type<T: ?Sized>() -> String {
    short_type_name(std::any::type_name::<T>())
}

pub(crate) fn short_type_name(name: &str) -> String {
    // Which lifetime it is says nothing to the reader.
    without_paths(name).replace("'_, ", "").replace("<'_>", "")
}

/// The name of a function or closure: its own, and that of its surroundings where it has none.
pub(crate) fn short_function<F: ?Sized>() -> String {
    short_function_name(std::any::type_name::<F>())
}

pub(crate) fn short_function_name(name: &str) -> String {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, sign) in name.match_indices(['<', '>', ':']) {
        match sign {
            "<" => depth += 1,
            // The arrow of a function type closes nothing.
            ">" if !name[..at].ends_with('-') => depth = depth.saturating_sub(1),
            ":" if depth == 0 && name[at..].starts_with("::") => {
                parts.push(&name[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    let own = &name[start..];
    if !own.starts_with('{') {
        return without_paths(own);
    }
    // A closure inside a closure is named by the function around both.
    let outer = parts.into_iter().rfind(|part| !part.starts_with('{'));
    outer.map_or_else(|| own.to_owned(), |outer| format!("{}::{{closure}}", without_paths(outer)))
}

/// Leaves out every `path::` before a name.
pub(crate) fn without_paths(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = 0;
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            out.truncate(word);
            rest = after;
            continue;
        }
        if !(next.is_alphanumeric() || next == '_' || next == '{' || next == '}') {
            word = out.len() + next.len_utf8();
        }
        out.push(next);
        rest = &rest[next.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_left_out_and_structure_stays() {
        assert_eq!(without_paths("a::b::C<(&mut d::E, f::G)>"), "C<(&mut E, G)>");
        assert_eq!(without_paths("alloc::vec::Vec<u8>"), "Vec<u8>");
        assert_eq!(short_type::<Option<&'static String>>(), "Option<&String>");
    }

    #[test]
    fn closures_are_named_by_where_they_stand() {
        fn named() {}
        fn name_of<F>(_: F) -> String {
            short_function::<F>()
        }
        assert_eq!(name_of(named), "named");
        assert_eq!(name_of(|| ()), "closures_are_named_by_where_they_stand::{closure}");
        let inner = || name_of(|| ());
        assert_eq!(inner(), "closures_are_named_by_where_they_stand::{closure}");
    }

    #[test]
    fn parameters_of_functions_stay_and_paths_before_them_go() {
        let method = "a::b::<impl c::D<'_, e::F>>::set<g::H, fn(i::J) -> k::L>::{{closure}}";
        assert_eq!(short_function_name(method), "set<H, fn(J) -> L>::{closure}");
        assert_eq!(short_function_name("a::in_state<b::Game>::{{closure}}"), "in_state<Game>::{closure}");
        assert_eq!(short_function_name("a::Vec<b::T>::push"), "push");
        assert_eq!(short_function_name("insert ChildOf"), "insert ChildOf");
    }
}
