//! The scripts of `package.json`, of one package or of the members of a workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use omo_core::text::glob::matches_glob;
use omo_state::json_object::JsonObject;
use omo_state::seal::hex_digest;
use serde_json::Value;

use super::{CommandReading, ProgramCall};
use crate::pinned_files::shell_state::ShellState;

const FILE: &str = "package.json";
/// What installing a package runs.
const INSTALLATION: [&str; 4] = ["install", "prepare", "preprepare", "postprepare"];

/// What a package says of itself.
#[derive(Default)]
pub(super) struct Package {
    name: Option<String>,
    pub(super) main: Option<String>,
    scripts: BTreeMap<String, String>,
    workspaces: Vec<String>,
}

/// What a package manager is asked to run.
struct ScriptRequest<'c> {
    /// The scripts; none where it names none, and any may run.
    scripts: Vec<&'c str>,
    members: Members<'c>,
    /// The scripts of the folder itself run as well.
    is_here: bool,
}

/// The packages of a workspace that are meant.
enum Members<'c> {
    None,
    All,
    Named(Vec<&'c str>),
}

impl CommandReading<'_> {
    pub(super) fn read_packages(&mut self, name: &str, own: &[&str], call: &ProgramCall, below: &Path) {
        let Some(request) = script_request(name, own) else { return };
        let is_manager = !matches!(name, "npx" | "bunx");
        // A member that is named by its package stands elsewhere.
        let is_elsewhere = matches!(request.members, Members::Named(_)) && below == call.folder;
        if request.is_here && !is_elsewhere {
            self.note_package(name, below);
            self.reach_scripts(below, &request.scripts, call.state, is_manager);
        }
        let mut folders = match &request.members {
            Members::None => return,
            Members::All => self.members(call.folder, name),
            Members::Named(named) => {
                let all = self.members(call.folder, name);
                let mut meant = BTreeSet::new();
                for member in &all {
                    let package = self.package(member).and_then(|package| package.name.clone()).unwrap_or_default();
                    let is_meant = |named: &&str| {
                        let named = named.trim_matches(['.', '!', '^']).trim_matches('/');
                        matches_glob(named, &package) || (!named.is_empty() && member.ends_with(named))
                    };
                    if named.iter().any(is_meant) {
                        meant.insert(member.clone());
                    }
                }
                // A name that cannot be told may be that of each.
                if meant.is_empty() { all } else { meant }
            }
        };
        folders.remove(below);
        for folder in folders {
            if name == "nx" {
                self.pin_task_file(&folder, "project.json", call.state);
            }
            self.reach_scripts(&folder, &request.scripts, call.state, true);
        }
    }

    /// Holds a package's scripts, those that are reached, which may be none of them.
    pub(super) fn note_package(&mut self, tool: &str, folder: &Path) {
        let is_package = matches!(tool, "npx" | "bunx" | "npm" | "pnpm" | "yarn" | "bun");
        if is_package && self.package(folder).is_some() {
            self.scripts_of(folder);
        }
    }

    fn scripts_of(&mut self, folder: &Path) -> Option<&mut BTreeMap<String, String>> {
        let name = self.project.name(&folder.join(FILE))?;
        Some(self.scripts.entry(format!("{name} (scripts)")).or_default())
    }

    /// Reads scripts of a package, each with the one before and the one behind it; all are held where none is named.
    fn reach_scripts(&mut self, folder: &Path, names: &[&str], state: &ShellState, is_run: bool) {
        let Some(package) = self.package(folder) else { return };
        let mut reached: Vec<String> = Vec::new();
        for name in names {
            let is_meant =
                |script: &&String| script.as_str() == *name || (name.contains('*') && matches_glob(name, script));
            for script in package.scripts.keys().filter(is_meant) {
                reached.extend([format!("pre{script}"), script.clone(), format!("post{script}")]);
            }
            // One that is not there may come between the two.
            reached.extend([format!("pre{name}"), format!("post{name}")]);
        }
        let is_any = names.is_empty();
        let reached: Vec<(String, String)> = if is_any {
            package.scripts.clone().into_iter().collect()
        } else {
            let texts = reached.iter().filter_map(|name| Some((name.clone(), package.scripts.get(name)?.clone())));
            texts.collect()
        };
        if let Some(held) = self.scripts_of(folder) {
            held.extend(reached.iter().cloned());
        }
        for (_, script) in reached.iter().filter(|_| is_run && !is_any) {
            self.read_line(script, state.of_inner_line(folder).with_script(true));
        }
    }

    /// What the package of a folder says; `None` where there is none.
    pub(super) fn package(&mut self, folder: &Path) -> Option<Rc<Package>> {
        if let Some(package) = self.packages.get(folder) {
            return package.clone();
        }
        let path = folder.join(FILE);
        let is_own = path.is_file() && self.project.name(&path).is_some();
        let bytes = if is_own { self.budget.read(&path) } else { None };
        let package = bytes.map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            Rc::new(Package::parse(&text).unwrap_or_else(|| {
                // One that cannot be read as that is held whole.
                let whole = BTreeMap::from([(String::new(), hex_digest(text.as_bytes()))]);
                self.scripts_of(folder).into_iter().for_each(|scripts| *scripts = whole.clone());
                Package::default()
            }))
        });
        self.packages.insert(folder.to_owned(), package.clone());
        package
    }

    /// The packages of the workspace that a folder is the top of.
    fn members(&mut self, folder: &Path, tool: &str) -> BTreeSet<PathBuf> {
        let tops = if folder == self.project.root {
            vec![folder.to_owned()]
        } else {
            vec![folder.to_owned(), self.project.root.to_owned()]
        };
        let mut members = BTreeSet::new();
        for top in tops {
            let mut globs = self.package(&top).map(|package| package.workspaces.clone()).unwrap_or_default();
            globs.extend(self.globs_of_pnpm(&top));
            globs.extend(self.globs_of_lerna(&top));
            if tool == "nx" {
                globs.extend(["apps/*", "libs/*", "packages/*", "apps/*/*", "libs/*/*"].map(str::to_owned));
            }
            // pnpm takes each package below it where no list says which.
            if globs.is_empty() {
                globs.extend(["*", "packages/*", "apps/*", "libs/*"].map(str::to_owned));
            }
            for glob in globs.iter().filter(|glob| !glob.starts_with('!')) {
                let found = match glob.split_once("**") {
                    Some((above, _)) => self.folders_below(&top.join(above)),
                    None => self.expand_pattern(&top, glob),
                };
                let is_member = |folder: &PathBuf| folder.join(FILE).is_file() || folder.join("project.json").is_file();
                members.extend(found.into_iter().filter(is_member));
            }
            if !members.is_empty() {
                break;
            }
        }
        members
    }

    fn folders_below(&mut self, top: &Path) -> Vec<PathBuf> {
        let (mut left, mut found) = (vec![top.to_owned()], Vec::new());
        while let Some(folder) = left.pop() {
            let is_searched = |name: &str| name != "node_modules" && !name.starts_with('.');
            let entries = self.entries(&folder).into_iter().filter(|(name, is_folder)| *is_folder && is_searched(name));
            left.extend(entries.map(|(name, _)| folder.join(name)));
            found.push(folder);
        }
        found
    }

    /// The list `packages:` of `pnpm-workspace.yaml`.
    fn globs_of_pnpm(&mut self, folder: &Path) -> Vec<String> {
        let path = folder.join("pnpm-workspace.yaml");
        let Some(bytes) = Some(path).filter(|path| path.is_file()).and_then(|path| self.budget.read(&path)) else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().skip_while(|line| !line.starts_with("packages:"));
        let inline = lines.next().and_then(|line| line.split_once('[')?.1.split_once(']'));
        if let Some((inline, _)) = inline {
            return inline.split(',').map(|item| item.trim().trim_matches(['\'', '"']).to_owned()).collect();
        }
        let items = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let items = items.map_while(|line| line.strip_prefix('-'));
        items.map(|item| item.split(" #").next().unwrap_or(item).trim().trim_matches(['\'', '"']).to_owned()).collect()
    }

    fn globs_of_lerna(&mut self, folder: &Path) -> Vec<String> {
        let path = folder.join("lerna.json");
        let bytes = Some(path).filter(|path| path.is_file()).and_then(|path| self.budget.read(&path));
        let value = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        value.as_ref().and_then(|value| value.get("packages")).map(strings).unwrap_or_default()
    }
}

impl Package {
    fn parse(text: &str) -> Option<Self> {
        let object = JsonObject::parse(text).ok()?;
        let member = |name: &str| match object.get(name) {
            Some(text) => serde_json::from_str::<Value>(text).ok().map(Some),
            None => Some(None),
        };
        let text = |name: &str| Some(member(name)??.as_str()?.to_owned());
        let scripts = match member("scripts")? {
            Some(Value::Object(scripts)) => scripts,
            Some(_) => return None,
            None => serde_json::Map::new(),
        };
        let scripts = scripts.iter().filter_map(|(name, line)| Some((name.clone(), line.as_str()?.to_owned())));
        let workspaces =
            member("workspaces").flatten().map(|list| list.get("packages").map_or_else(|| strings(&list), strings));
        Some(Self {
            name: text("name"),
            main: text("main"),
            scripts: scripts.collect(),
            workspaces: workspaces.unwrap_or_default(),
        })
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// What a tool is asked to run of packages; `None` for one that runs none.
fn script_request<'c>(tool: &str, own: &[&'c str]) -> Option<ScriptRequest<'c>> {
    let is_runner = matches!(tool, "run-s" | "run-p" | "npm-run-all" | "concurrently");
    if !is_runner && !matches!(tool, "npm" | "pnpm" | "yarn" | "bun" | "lerna" | "turbo" | "nx" | "npx" | "bunx") {
        return None;
    }
    let mut words: Vec<&'c str> = Vec::new();
    let mut named: Vec<&'c str> = Vec::new();
    let mut is_all = matches!(tool, "lerna" | "turbo" | "nx");
    let mut left = own.iter().copied();
    while let Some(word) = left.next() {
        let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        match option {
            // What stands behind it is for the script.
            "--" => break,
            "--workspaces" | "-ws" | "--ws" | "-r" | "--recursive" => is_all = true,
            "-w" | "--workspace" | "--filter" | "-F" | "--scope" => named.extend(value.or_else(|| left.next())),
            "--prefix" | "-C" | "--dir" | "--cwd" | "--loglevel" | "--project" | "--config" => {
                if value.is_none() {
                    left.next();
                }
            }
            _ if word.starts_with('-') => {}
            _ => words.push(word),
        }
    }
    if is_runner {
        let scripts = words.iter().map(|word| word.strip_prefix("npm:").unwrap_or(word)).collect();
        return Some(ScriptRequest { scripts, members: Members::None, is_here: true });
    }
    let mut words = words.into_iter().peekable();
    match words.peek() {
        Some(&"workspace") if tool == "yarn" => {
            words.next();
            named.extend(words.next());
        }
        Some(&"workspaces") if tool == "yarn" => {
            is_all = true;
            words.next();
            words.next_if(|word| *word == "foreach");
        }
        Some(&"recursive" | &"multi" | &"m") if tool == "pnpm" => {
            is_all = true;
            words.next();
        }
        _ => {}
    }
    let is_run = words.next_if(|word| matches!(*word, "run" | "run-script" | "run-many" | "affected")).is_some();
    let scripts = match words.next() {
        // What depends on what is said elsewhere: any may run.
        _ if matches!(tool, "turbo" | "nx") => Vec::new(),
        Some("t" | "tst") if !is_run => vec!["test"],
        Some("ci" | "i" | "install" | "add") if !is_run => INSTALLATION.to_vec(),
        Some("exec" | "dlx" | "x") if !is_run => vec![""],
        _ if matches!(tool, "npx" | "bunx") => vec![""],
        Some(script) => vec![script],
        None => Vec::new(),
    };
    let is_here = named.is_empty() || tool == "yarn" || tool == "npm" || tool == "pnpm";
    let members = if !named.is_empty() {
        Members::Named(named)
    } else if is_all {
        Members::All
    } else {
        Members::None
    };
    Some(ScriptRequest { scripts, members, is_here })
}
