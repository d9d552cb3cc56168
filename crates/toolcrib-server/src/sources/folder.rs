//! A folder of definitions, watched by looking at it again and again.
//!
//! Definitions are the `.json` files of the folder, and `definition.json` in the folders directly in it; nothing below
//! is looked at, so that no loop of links can be entered. Looking compares names, times and sizes; only what differs
//! is read. A file that is being written is read again until it rests.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use toolcrib_runtime::registry::{DefinitionFile, Unreadable};
use toolcrib_runtime::tool::definition::Problem;
use toolcrib_runtime::tool::{ToolListing, ToolSource};

use crate::check::read_definition;

#[cfg(test)]
mod tests;

/// How often the folder is looked at.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause, for folders that take long to look at.
const LONGEST_PAUSE: Duration = Duration::from_millis(700);
/// Looks after a change during which a file is read again: two writes within one tick of the file system's clock
/// leave the same time behind.
const SETTLING: u8 = 8;
/// The one definition of a folder below the watched one.
const NESTED: &str = "definition.json";

/// A watched folder.
pub(crate) struct ToolsFolder {
    path: PathBuf,
    /// Whether its absence is a problem.
    required: bool,
    state: Arc<Mutex<State>>,
}

/// The folder as it was at the last look.
#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Seen>,
    problem: Option<Problem>,
    /// Something has changed that was not listed yet.
    unlisted: bool,
}

struct Seen {
    stamp: Option<Stamp>,
    settling: u8,
    file: DefinitionFile,
}

/// What tells that a file is no longer the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    /// Inode and time of its last change, where there is such a thing: a file that was put in the place of another
    /// may be of the same age and size.
    node: (u64, i64, i64),
}

impl ToolsFolder {
    /// A folder that need not be there.
    pub(crate) fn optional(path: PathBuf) -> Self {
        Self { path, required: false, state: Arc::default() }
    }

    /// A folder that somebody has named.
    pub(crate) fn required(path: PathBuf) -> Self {
        Self { path, required: true, state: Arc::default() }
    }

    /// Looks at the folder beside the requests; says how long that took, by tokio's clock.
    async fn look(&self) -> Duration {
        let began = tokio::time::Instant::now();
        let (path, required, state) = (self.path.clone(), self.required, Arc::clone(&self.state));
        let looked = tokio::task::spawn_blocking(move || {
            state.lock().unwrap_or_else(PoisonError::into_inner).look(&path, required);
        });
        if let Err(error) = looked.await {
            tracing::error!(error = %error, folder = %self.path.display(), "looking at a folder of definitions broke off");
        }
        began.elapsed()
    }

    fn with_state<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        read(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl ToolSource for ToolsFolder {
    fn name(&self) -> String {
        format!("folder {}", self.path.display())
    }

    async fn list(&self) -> ToolListing {
        self.look().await;
        self.with_state(|state| {
            state.unlisted = false;
            ToolListing {
                definitions: state.files.values().map(|seen| seen.file.clone()).collect(),
                implementations: Vec::new(),
                problems: state.problem.iter().cloned().collect(),
            }
        })
    }

    async fn changed(&self) {
        let mut pause = PAUSE;
        while !self.with_state(|state| state.unlisted) {
            tokio::time::sleep(pause).await;
            // A slow disk is given time: looking takes a tenth of it at most.
            pause = (self.look().await * 9).clamp(PAUSE, LONGEST_PAUSE);
        }
    }
}

impl State {
    fn look(&mut self, folder: &Path, required: bool) {
        let (found, problem) = match find(folder) {
            Ok(found) => (Some(found), None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let text = folder.display().to_string();
                let allowed = "make the folder, or take it out of sources.tools_folders";
                let problem =
                    required.then(|| Problem::error(&text, "", "a folder that is not there", allowed));
                (Some(Vec::new()), problem)
            }
            // What cannot be looked at now is not gone: its definitions stay.
            Err(error) => {
                let found = format!("a folder that cannot be read: {error}");
                let allowed = "what was read from it before stays in use; make it readable";
                (None, Some(Problem::error(&folder.display().to_string(), "", found, allowed)))
            }
        };
        self.unlisted |= problem != self.problem;
        self.problem = problem;
        let Some(found) = found else { return };
        let before = std::mem::take(&mut self.files);
        let gone = before.len();
        let mut kept = 0;
        let mut before = before;
        for path in found {
            let seen = before.remove(&path);
            kept += usize::from(seen.is_some());
            let seen = self.see(&path, seen);
            self.files.insert(path, seen);
        }
        self.unlisted |= kept < gone;
    }

    /// Reads a file when it differs from what was seen.
    fn see(&mut self, path: &Path, seen: Option<Seen>) -> Seen {
        let stamp = Stamp::of(path);
        let settling = match &seen {
            Some(seen) if seen.stamp == stamp && stamp.is_some() => seen.settling.saturating_sub(1),
            _ => SETTLING,
        };
        match seen {
            Some(seen) if settling == 0 => Seen { settling, ..seen },
            seen => {
                let file = match std::fs::metadata(path) {
                    Ok(kind) if !kind.is_file() => {
                        let why = "it is no regular file".to_owned();
                        DefinitionFile::unreadable(path.display().to_string(), Unreadable::Failed(why))
                    }
                    _ => read_definition(path),
                };
                self.unlisted |= seen.is_none_or(|seen| seen.file != file);
                Seen { stamp, settling, file }
            }
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        Some(Self { modified: data.modified().ok(), size: data.len(), node: node(&data) })
    }
}

#[cfg(unix)]
fn node(data: &std::fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (data.ino(), data.ctime(), data.ctime_nsec())
}

#[cfg(not(unix))]
fn node(_: &std::fs::Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

/// The definition files of a folder, in the order of their paths. A file that links lead to twice is there once.
fn find(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_json(&path) {
            if !path.is_dir() {
                found.push((linked, path));
            }
        } else if path.is_dir() {
            let nested = path.join(NESTED);
            if nested.symlink_metadata().is_ok() {
                found.push((linked || nested.is_symlink(), nested));
            }
        }
    }
    found.sort();
    let mut real = HashSet::new();
    let once = found.into_iter().filter_map(|(linked, path)| {
        // A link that leads nowhere is listed, so that somebody learns of it.
        let target = if linked { path.canonicalize().unwrap_or_else(|_| path.clone()) } else { path.clone() };
        real.insert(target).then_some(path)
    });
    let mut once: Vec<_> = once.collect();
    once.sort();
    Ok(once)
}

/// Hidden files are other programs' drafts.
fn is_json(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
