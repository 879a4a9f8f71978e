//! `omo log`: what was decided, and by which rule.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use omo_core::log::LogEntry;
use omo_core::words::neutral;
use omo_store::decisions;
use omo_store::env::Env;

use crate::arguments::LogOptions;
use crate::failure::Failure;
use crate::project::Project;

/// How often a log that is followed is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Shows the log, and what is added to it where it is followed.
pub fn run(env: &Env, options: &LogOptions) -> Result<(), Failure> {
    let project = Project::find(env)?;
    let mut out = anstream::stdout().lock();
    let Some(folder) = &project.folder else {
        eprintln_none(&project)?;
        return Ok(());
    };
    // Opened before it is read: what is appended in between is shown twice rather than not at all.
    let path = folder.path().join(decisions::FILE);
    let mut follower = options.follow.then(|| Follower::at_end_of(&path));
    let entries = decisions::read(folder)?;
    if entries.is_empty() && !options.follow {
        eprintln_none(&project)?;
    }
    show(&mut out, &entries, options.json)?;
    while let Some(follower) = &mut follower {
        std::thread::sleep(LOOK_EVERY);
        show(&mut out, &follower.new_entries()?, options.json)?;
    }
    Ok(())
}

fn eprintln_none(project: &Project) -> Result<(), Failure> {
    writeln!(anstream::stderr(), "Nothing was decided in {} yet.", project.root.display())?;
    Ok(())
}

fn show(out: &mut impl Write, entries: &[LogEntry], json: bool) -> Result<(), Failure> {
    for entry in entries {
        if json {
            writeln!(out, "{}", serde_json::to_string(entry).unwrap_or_default())?;
        } else {
            writeln!(out, "{}", line(entry))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// One line, its columns in line for ids of the usual length.
fn line(entry: &LogEntry) -> String {
    let row = entry.row.map(|row| format!("row {row}")).unwrap_or_default();
    let blocks = format!("{}/{}", entry.blocks, entry.max_blocks);
    format!(
        "{}  {:<36}  {:<16}  {row:<6}  {:<14}  {blocks:<7}  {}",
        entry.at,
        neutral(&entry.session, 36),
        neutral(&entry.event, 16),
        neutral(&entry.decision, 14),
        neutral(&entry.why, 100),
    )
}

/// Reads on where a log ended, also over its rotation.
struct Follower {
    path: std::path::PathBuf,
    offset: u64,
}

impl Follower {
    fn at_end_of(path: &std::path::Path) -> Self {
        let offset = path.metadata().map_or(0, |metadata| metadata.len());
        Self { path: path.to_owned(), offset }
    }

    fn new_entries(&mut self) -> Result<Vec<LogEntry>, Failure> {
        let Ok(mut file) = File::open(&self.path) else { return Ok(Vec::new()) };
        let length = file.metadata()?.len();
        if length < self.offset {
            self.offset = 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(decisions::ROTATE_AT * 2).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += whole as u64;
        Ok(decisions::parse(bytes.get(..whole).unwrap_or_default()).collect())
    }
}
