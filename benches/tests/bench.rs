//! One round of all that `cargo xtask bench` times, in small projects and untimed: each contestant does its work.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn each_contestant_of_the_bench_does_its_work() {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names the plugin that it built"
    )]
    let plugin = std::env::var_os("OMO_TEST_PLUGIN").expect("OMO_TEST_PLUGIN names no plugin");
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Command::new(env!("CARGO_BIN_EXE_omo-benches"));
    bench
        .arg("--once")
        .arg(Path::new(&plugin).join("bin"))
        .arg(env!("CARGO_BIN_EXE_empty"));
    let output = bench
        .arg(peers)
        .arg(folder.path())
        .arg("any-target")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
