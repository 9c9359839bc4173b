//! The `rowrace` binary: hands its arguments to the library and exits with the code that it gives.

use std::process::ExitCode;

fn main() -> ExitCode {
    rowrace::cli::main()
}
