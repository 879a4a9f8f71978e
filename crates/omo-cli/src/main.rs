//! The program `omo`. All of it is in the library, so that its pages can be looked at as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    omo_cli::main()
}
