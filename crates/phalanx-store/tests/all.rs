//! The tests of the store as one program, which links once. `sessions` is apart: the thread sanitizer runs it alone.

use std::fs;
use std::path::Path;

mod grants;
mod groups;
mod images;
mod leaving;
mod model;
mod set_plans;
mod sets;
mod shapes;
mod slabs;
mod soundness;
mod soundness_fill;
mod soundness_plans;
mod soundness_shapes;
mod soundness_ways;
mod spawn_cursors;
mod spawn_cursors_model;
mod splits;
#[path = "../../phalanx/tests/common/steps.rs"]
mod steps;
mod store;
mod walks;

#[test]
fn every_file_beside_this_one_is_a_module_of_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in fs::read_dir(folder).expect("the folder of this file") {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_program = name == "all" || name == "sessions";
        if path.extension().is_some_and(|end| end == "rs") && !is_program {
            assert!(
                include_str!("all.rs").contains(&format!("\nmod {name};\n")),
                "`mod {name};` is missing here"
            );
        }
    }
}
