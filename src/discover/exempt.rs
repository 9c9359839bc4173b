//! Which files are read for their declarations only: tests, migrations, seeders, code that runs once
//! at an upgrade, vendored code.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Whole folder names, in lower case.
const FOLDERS: [&str; 25] = [
    "__tests__",
    "behat",
    "bench",
    "benches",
    "examples",
    "fixture",
    "fixtures",
    "install",
    "installer",
    "migration",
    "migrations",
    "node_modules",
    "seed",
    "seeder",
    "seeders",
    "seeds",
    "spec",
    "specs",
    "test",
    "testing",
    "tests",
    "testsuite",
    "upgrade",
    "upgrades",
    "vendor",
];

/// Ends of file names, in their own case: `latest.php` is no test.
const ENDS: [&str; 14] = [
    "Test.php",
    "Tests.php",
    "TestCase.php",
    "Cest.php",
    "Spec.php",
    "_test.php",
    ".test.php",
    ".install",
    ".post_update.php",
    "Seeder.php",
    "_test.rs",
    "_tests.rs",
    "_bench.rs",
    "_spec.rs",
];

/// Whole file names.
const NAMES: [&str; 3] = ["tests.rs", "test.rs", "testing.rs"];

/// Whether the file at `relative` is exempt. The path is relative to the folder that the user named,
/// so that a folder which itself lies below `tests/` is analysed when it is asked for.
pub(super) fn is_exempt(relative: &Path) -> bool {
    relative.parent().is_some_and(has_exempt_folder)
        || relative.file_name().and_then(OsStr::to_str).is_some_and(is_exempt_name)
}

fn has_exempt_folder(folder: &Path) -> bool {
    let names: Vec<String> = folder
        .components()
        .filter_map(|it| match it {
            Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
            _ => None,
        })
        .collect();
    // Only Laravel's `database/factories` makes test rows; elsewhere a factory is plain code.
    let is_row_factory = names.windows(2).any(|it| it[0] == "database" && it[1] == "factories");
    is_row_factory || names.iter().any(|it| FOLDERS.contains(&it.as_str()))
}

fn is_exempt_name(name: &str) -> bool {
    NAMES.contains(&name)
        || ENDS.iter().any(|it| name.ends_with(it))
        || name.strip_prefix("test_").is_some_and(|it| Path::new(it).extension().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_names_that_are_exempt() {
        for (path, wanted) in [
            ("tests/Unit/Job.php", true),
            ("app/Tests/Job.php", true),
            ("database/migrations/2024_create_jobs.php", true),
            ("database/factories/JobFactory.php", true),
            ("src/Factories/JobFactory.php", false),
            ("src/JobTest.php", true),
            ("src/latest.php", false),
            ("src/attestation.php", false),
            ("crates/jobs/benches/claim.rs", true),
            ("src/claim_test.rs", true),
            ("src/jobs/tests.rs", true),
            ("app/Console/Commands/Upgrade/Rules.php", true),
            ("modules/jobs/jobs.install", true),
            ("src/Upgrader/Job.php", false),
            ("src/contest/Job.php", false),
            ("src/Job.php", false),
            ("Job.php", false),
        ] {
            assert_eq!(is_exempt(Path::new(path)), wanted, "{path}");
        }
    }
}
