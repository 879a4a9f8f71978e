//! The program `omo`. All of it is in the library, so that its help can be read by others.

use std::process::ExitCode;

fn main() -> ExitCode {
    omo_cli::main()
}
