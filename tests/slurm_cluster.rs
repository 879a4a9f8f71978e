//! A cluster of one node on this machine: a controller, a daemon of the node and a munged, each in the foreground and in
//! a folder of the test's own. All that belongs to it has the path of its configuration in its environment.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::processes::{find_processes, kill_process};
use anyhow::{Context, Result, bail, ensure};
use omo_testkit::wait_until;
use tempfile::TempDir;

/// How long a cluster may take to start, and what it was told to come about.
pub const LIMIT: Duration = Duration::from_mins(1);
/// So often a cluster is started: another process may take a port that was free a moment ago.
const STARTS: usize = 3;
/// Where Debian has daemons.
const DAEMONS: &str = "/usr/sbin";
/// The node.
const NODE: &str = "node";
/// So much of a log is told.
const TOLD_LINES: usize = 15;

/// The cluster. It ends with this, and all of its jobs.
pub struct SlurmCluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        // Those of the jobs as well, and what started the jobs: each of them may start another one until it is killed.
        let is_over = || {
            let left = self.processes();
            for pid in &left {
                drop(kill_process(*pid));
            }
            for daemon in &mut self.daemons {
                drop(daemon.try_wait());
            }
            left.is_empty().then_some(())
        };
        drop(wait_until("the end of the cluster", is_over));
    }
}

impl SlurmCluster {
    /// One whose node has so many processors, and whose configuration has these lines as well.
    pub fn start(processors: usize, more: &str) -> Result<Self> {
        let mut last = None;
        for _ in 0..STARTS {
            match Self::start_once(processors, more) {
                Ok(cluster) => return Ok(cluster),
                Err(why) => last = Some(why),
            }
        }
        Err(last.context("no cluster was started")?)
    }

    fn start_once(processors: usize, more: &str) -> Result<Self> {
        // Its configuration holds no path with a blank.
        let parent =
            Some(std::env::temp_dir()).filter(|path| !path.to_string_lossy().contains(' '));
        let parent = parent.unwrap_or_else(|| "/tmp".into());
        let folder = tempfile::Builder::new()
            .prefix("omo-slurm-")
            .tempdir_in(parent)?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        for part in ["state", "spool"] {
            fs::create_dir(folder.path().join(part))?;
        }
        let mut key = Vec::new();
        std::io::Read::read_to_end(
            &mut std::io::Read::take(File::open("/dev/urandom")?, 1_024),
            &mut key,
        )?;
        fs::write(folder.path().join("munge.key"), key)?;
        fs::set_permissions(
            folder.path().join("munge.key"),
            fs::Permissions::from_mode(0o400),
        )?;
        let mut cluster = Self {
            folder,
            daemons: Vec::new(),
        };
        fs::write(cluster.configuration(), cluster.settings(processors, more)?)?;
        cluster.start_munged()?;
        cluster.start_controller()?;
        cluster.start_node()?;
        cluster.wait_until_idle()?;
        Ok(cluster)
    }

    fn settings(&self, processors: usize, more: &str) -> Result<String> {
        // Both are held until both are known: they are not the same one.
        let listeners = [
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
        ];
        let [controller_port, node_port] =
            listeners.map(|listener| listener.local_addr().map(|at| at.port()));
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let host = host.trim().split('.').next().unwrap_or_default();
        let user = Command::new("id").arg("-un").output()?.stdout;
        let user = String::from_utf8(user)?.trim().to_owned();
        let shown = self.folder.path().display();
        Ok(format!(
            "ClusterName=omo\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmdPort={}\n\
             CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n\
             AuthType=auth/munge\nAuthInfo=socket={shown}/munge.sock,cred_expire=5\nCredType=cred/munge\n\
             SlurmUser={user}\nSlurmdUser={user}\nStateSaveLocation={shown}/state\nSlurmdSpoolDir={shown}/spool\n\
             SlurmctldPidFile={shown}/controller.pid\nSlurmdPidFile={shown}/node.pid\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\nMailProg=/bin/true\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0\n\
             ReturnToService=0\nJobRequeue=1\nKillWait=20\nSlurmdParameters=config_overrides\n{more}\n\
             NodeName={NODE} NodeHostname={host} NodeAddr=127.0.0.1 CPUs={processors}\n\
             PartitionName=all Nodes={NODE} Default=YES State=UP\n",
            controller_port?, node_port?
        ))
    }

    /// The file that `SLURM_CONF` names.
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn start_munged(&mut self) -> Result<()> {
        let file = |option: &str, name: &str| {
            format!("--{option}={}/{name}", self.folder.path().display())
        };
        let files = [
            ("key-file", "key"),
            ("socket", "sock"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        ];
        let options = files.map(|(option, ending)| file(option, &format!("munge.{ending}")));
        let options: Vec<&str> = ["--foreground", "--force"]
            .into_iter()
            .chain(options.iter().map(String::as_str))
            .collect();
        self.start_daemon("munged", &options)?;
        let socket = self.folder.path().join("munge.sock");
        self.wait_for("munged", || socket.exists())
    }

    /// Starts the controller, with what an earlier one has left.
    pub fn start_controller(&mut self) -> Result<()> {
        self.start_daemon("slurmctld", &["-D"])?;
        self.wait_for("the controller", || {
            self.slurm("scontrol", &["ping"])
                .is_ok_and(|said| said.contains(" UP"))
        })
    }

    /// Starts the daemon of the node.
    pub fn start_node(&mut self) -> Result<()> {
        self.start_daemon("slurmd", &["-D", "-N", NODE])
    }

    /// Waits until the node takes jobs.
    fn wait_until_idle(&self) -> Result<()> {
        let is_idle = |said: String| {
            said.split_whitespace()
                .any(|state| state == "idle" || state == "mixed")
        };
        self.wait_for("the node", || {
            self.slurm("sinfo", &["--noheader", "--format", "%T"])
                .is_ok_and(is_idle)
        })
    }

    /// Ends the controller, as a shutdown does: it has written down by then what it knows.
    pub fn stop_controller(&self) -> Result<()> {
        self.slurm("scontrol", &["shutdown", "controller"])?;
        self.wait_for("the end of the controller", || {
            self.find("slurmctld").is_empty()
        })
    }

    /// Kills all that runs on the node, as the end of its power does.
    pub fn kill_node(&self) -> Result<()> {
        let of_jobs = find_processes("environ", &[&self.mark(), "SLURM_JOB_ID="]);
        let all = [self.find("slurmd"), self.find("slurmstepd"), of_jobs].concat();
        all.into_iter().try_for_each(kill_process)
    }

    /// The processes of the cluster with this in their command line. A daemon that has ended has none.
    fn find(&self, name: &str) -> Vec<u32> {
        let line =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        self.processes()
            .into_iter()
            .filter(|pid| line(pid).contains(name))
            .collect()
    }

    fn start_daemon(&mut self, name: &str, options: &[&str]) -> Result<()> {
        let program = Path::new(DAEMONS).join(name);
        ensure!(
            program.is_file(),
            "there is no {}: install slurm-wlm and munge",
            program.display()
        );
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join(format!("{name}.log")))?;
        let mut command = Command::new(program);
        command
            .args(options)
            .env("SLURM_CONF", self.configuration())
            .current_dir(self.folder.path());
        self.daemons.push(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()?,
        );
        Ok(())
    }

    /// Waits for something of the daemons, and tells what they said where it does not come.
    pub fn wait_for(&self, what: &str, is_there: impl Fn() -> bool) -> Result<()> {
        wait_until(what, || is_there().then_some(())).with_context(|| self.told())
    }

    /// The ends of what the daemons have said.
    pub fn told(&self) -> String {
        let of = |name: &str| {
            let text = fs::read_to_string(self.folder.path().join(format!("{name}.log")))
                .unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            format!(
                "{name}:\n{}\n",
                lines
                    .get(lines.len().saturating_sub(TOLD_LINES)..)
                    .unwrap_or_default()
                    .join("\n")
            )
        };
        ["munged", "munge", "slurmctld", "slurmd"].map(of).concat()
    }

    fn mark(&self) -> String {
        format!("SLURM_CONF={}", self.configuration().display())
    }

    /// What belongs to the cluster and runs: daemons, jobs, and commands that ask them.
    fn processes(&self) -> Vec<u32> {
        find_processes("environ", &[&self.mark()])
    }

    /// What a command of Slurm prints.
    pub fn slurm(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.configuration())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            bail!(
                "{program} {arguments:?}: {said}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(said)
    }

    /// Has the node do no work, whatever it says of itself.
    pub fn take_down_node(&self) -> Result<()> {
        let node = format!("nodename={NODE}");
        self.slurm(
            "scontrol",
            &["update", &node, "state=down", "reason=broken"],
        )
        .map(drop)
    }

    /// Has it take jobs again.
    pub fn return_node(&self) -> Result<()> {
        self.slurm(
            "scontrol",
            &["update", &format!("nodename={NODE}"), "state=resume"],
        )
        .map(drop)?;
        self.wait_until_idle()
    }

    /// The jobs of these states, by what they are called and their numbers.
    pub fn jobs(&self, states: &str) -> Result<Vec<(String, String)>> {
        let said = self.slurm(
            "squeue",
            &["--noheader", "--states", states, "--format", "%j %A"],
        )?;
        let of = |line: &str| {
            line.split_once(' ')
                .map(|(name, id)| (name.to_owned(), id.trim().to_owned()))
        };
        Ok(said.lines().filter_map(of).collect())
    }

    /// No job is queued or at work, and nothing is left on the node that one has started.
    pub fn require_idle(&self) -> Result<()> {
        let states = "PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,REQUEUED,REQUEUE_HOLD";
        let left = || {
            (
                self.jobs(states).ok(),
                find_processes("environ", &[&self.mark(), "SLURM_JOB_ID="]),
            )
        };
        self.wait_for("the end of the jobs", || {
            left() == (Some(Vec::new()), Vec::new())
        })
        .with_context(|| format!("left: {:?}", left()))
    }
}
