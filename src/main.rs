//! The `rowrace` binary: hands its arguments to the library and exits with the code that it gives.

use std::process::ExitCode;

/// States are copied at every branch: most of a run is small allocations that live briefly.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rowrace::cli::main()
}
