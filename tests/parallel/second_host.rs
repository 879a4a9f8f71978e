//! A second host: an ssh server of this machine that only the tests reach, with a home folder of its own and no omo,
//! and a bare repository that both can reach.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Result, ensure};
use omo_testkit::wait_until;
use omo_tests::worker_home::WorkerHome;

use crate::parallel_repository::Ground;

const SERVER: &str = "/usr/sbin/sshd";
/// Where a server that root starts wants an empty folder.
const SEPARATED: &str = "/run/sshd";

/// The other host. It ends with this.
pub(crate) struct Host {
    files: WorkerHome,
    server: Child,
    port: u16,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Host {
    /// One that does each step of these as its plan says, and the ground's remote repository.
    pub(crate) fn new(ground: &Ground, steps: &[(u32, &str)]) -> Result<Self> {
        ensure!(
            Path::new(SERVER).is_file(),
            "there is no {SERVER}: install openssh-server"
        );
        let files = WorkerHome::new(ground, steps)?;
        make_keys(files.folder())?;
        let port = free_port()?;
        let mut host = Self {
            server: start(files.folder(), port)?,
            files,
            port,
        };
        // The port may have been taken since by the server of another test: this one has ended then.
        wait_until("the ssh server", || {
            if !matches!(host.server.try_wait(), Ok(None)) {
                host.port = free_port().ok()?;
                host.server = start(host.files.folder(), host.port).ok()?;
            }
            host.answers().then_some(())
        })?;
        fs::write(
            host.home().join("work"),
            concat!(include_str!("../host_prompt.sh"), include_str!("host.sh")),
        )?;
        Ok(host)
    }

    /// It lets this test in.
    fn answers(&self) -> bool {
        let mut command = Command::new("ssh");
        command
            .args(self.ssh_options().split(' '))
            .args(["127.0.0.1", "true"]);
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
            && command.output().is_ok_and(|output| output.status.success())
    }

    /// What the other end has.
    pub(crate) fn files(&self) -> &WorkerHome {
        &self.files
    }

    /// The home folder there.
    pub(crate) fn home(&self) -> PathBuf {
        self.files.home()
    }

    /// How a step is worked on there: lines of bash.
    pub(crate) fn script(&self, step: u32, text: &str) -> Result<()> {
        self.files.script(step, text)
    }

    /// The template that starts a session there.
    pub(crate) fn launcher(&self) -> String {
        format!(
            "ssh {} 127.0.0.1 'bash work {{branch}} {{group}}'",
            self.ssh_options()
        )
    }

    /// What `ssh` is given so that it reaches this host, and asks nothing.
    pub(crate) fn ssh_options(&self) -> String {
        let folder = self.files.folder().display();
        let options = "-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR";
        format!(
            "{options} -o UserKnownHostsFile={folder}/known -p {} -i {folder}/key",
            self.port
        )
    }

    /// The sessions that were started there, in their order.
    pub(crate) fn launched(&self) -> Vec<String> {
        let text = fs::read_to_string(self.home().join("launched")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

fn make_keys(folder: &Path) -> Result<()> {
    for key in ["key", "host-key"] {
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(folder.join(key));
        ensure!(command.status()?.success(), "ssh-keygen failed");
    }
    fs::copy(folder.join("key.pub"), folder.join("allowed"))?;
    Ok(())
}

/// Starts the server, with keys that were made for it.
fn start(folder: &Path, port: u16) -> Result<Child> {
    let home = folder.join("home");
    let shown = folder.display();
    let settings = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {shown}/host-key\nAuthorizedKeysFile {shown}/allowed\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
         SetEnv HOME={}\nForceCommand cd \"$HOME\" && eval \"$SSH_ORIGINAL_COMMAND\"\n",
        home.display()
    );
    fs::write(folder.join("settings"), settings)?;
    if rustix::process::geteuid().is_root() {
        fs::create_dir_all(SEPARATED)?;
    }
    let log = fs::File::create(folder.join("log"))?;
    let mut command = Command::new(SERVER);
    command
        .args(["-D", "-e", "-f"])
        .arg(folder.join("settings"));
    Ok(command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()?)
}
