//! Unsafe code stays in the few files that need it.

use super::Problem;
use super::source::Source;

/// Reports unsafe code, and leave to write it, outside of the listed files.
pub(super) fn check(source: &Source) -> Vec<Problem> {
    if ALLOWED.iter().any(|prefix| source.path.starts_with(prefix)) || is_allocator(&source.path) {
        return Vec::new();
    }
    let lines = source.code.iter().enumerate();
    lines
        .filter(|(_, line)| {
            let line = line.replace("unsafe_op_in_unsafe_fn", "");
            super::source::words(&line).any(|word| word == "unsafe")
                || ["allow", "expect", "warn"].iter().any(|level| {
                    let attribute: String = line.split_whitespace().collect();
                    attribute.contains(&format!("{level}(unsafe_code"))
                })
        })
        .map(|(index, _)| {
            let message = "unsafe code is allowed in the files that tidy lists; do without it, or \
                           add the file to the list with a reason";
            Problem::new(&source.path, index + 1, message)
        })
        .collect()
}

/// Tests and benchmarks that count allocations need an allocator, which the language makes unsafe.
fn is_allocator(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains("alloc") && (path.contains("/tests/") || path.starts_with("xtask/peers/"))
}

/// Where unsafe code is allowed, each with its reason.
const ALLOWED: [&str; 3] = [
    // The locks and cells that the models check.
    "crates/store-mem/src/sync/",
    // Reading the time stamp counter is an intrinsic.
    "crates/store-mem/src/clock/tsc.rs",
    // An exported C function has an unsafe attribute.
    "xtask/no-std/src/lib.rs",
];

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source::Source;

    #[test]
    fn unsafe_code_is_found_outside_of_the_list() {
        for line in [
            "unsafe { f() }",
            "unsafe impl Send for A {}",
            "#[unsafe(no_mangle)]",
            "#![allow(unsafe_code)]",
            "#[expect(unsafe_code, reason = \"x\")]",
        ] {
            let lines = |path| -> Vec<usize> {
                check(&Source::parse(path, line)).iter().map(|problem| problem.line).collect()
            };
            assert_eq!(lines("crates/core/src/lib.rs"), [1], "{line}");
            assert_eq!(lines("crates/store-mem/src/table.rs"), [1], "{line}");
            assert_eq!(lines("crates/core/src/alloc.rs"), [1], "{line}");
            assert!(lines("crates/store-mem/src/sync/lock.rs").is_empty());
            assert!(lines("crates/gorl/tests/allocations.rs").is_empty());
        }
    }

    #[test]
    fn speaking_of_it_and_forbidding_it_passes() {
        for line in ["// unsafe", "#![forbid(unsafe_code)]", "let unsafety = \"unsafe\";"] {
            assert!(check(&Source::parse("crates/core/src/lib.rs", line)).is_empty(), "{line}");
        }
    }
}
