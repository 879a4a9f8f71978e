//! No binary of omo uses a network: not one call of any operation, nor of what it starts, has to do with one.

use omo_testkit::strace::{self, SystemCall};
use omo_tests::scene::{Scene, plugin};

use crate::fault_operations::FAULT_OPERATIONS;

const OF_NETWORKS: [&str; 9] = [
    "accept", "accept4", "bind", "connect", "listen", "sendmmsg", "sendmsg", "sendto", "socket",
];

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn no_binary_makes_a_call_to_a_network() {
    let plugin = plugin();
    for operation in &FAULT_OPERATIONS {
        let mut scene = Scene::new(&plugin).unwrap();
        scene.lab.write("check.sh", "exit 0\n").unwrap();
        (operation.prepare)(&mut scene).unwrap();
        let (command, input) = (operation.process)(&scene).unwrap();
        let traced = strace::run_with_children(&command, &input).unwrap();
        assert!(
            traced.run.status.success() && traced.calls.len() > 10,
            "{}: {traced:?}",
            operation.name
        );
        // One that asks of a pipe whether it is a socket, and hears that it is none, reaches nothing.
        let is_of_a_network = |call: &&SystemCall| {
            OF_NETWORKS.contains(&&*call.name) && !call.line.contains("= -1 ENOTSOCK ")
        };
        let of_networks: Vec<_> = traced.calls.iter().filter(is_of_a_network).collect();
        assert!(
            of_networks.is_empty(),
            "{}: {of_networks:#?}",
            operation.name
        );
    }
}
