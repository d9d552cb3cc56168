//! Finds the checkout of the project, and writes into it all or nothing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::LIST;

/// What is written. Paths are relative to the checkout.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) root: PathBuf,
    /// Files that must not exist yet.
    pub(super) files: Vec<(PathBuf, String)>,
    /// The file that is replaced at the end.
    pub(super) list: (PathBuf, String),
}

/// The nearest folder from `here` upwards that is a checkout of the project.
pub(super) fn checkout(here: &Path) -> anyhow::Result<PathBuf> {
    let found = here.ancestors().find(|folder| folder.join(LIST).is_file());
    found.map(Path::to_owned).with_context(|| {
        format!(
            "there is no checkout of the project in {} or above it, which is known by its {LIST}: go to one and repeat \
             the command there",
            here.display()
        )
    })
}

impl Plan {
    /// The files that are made.
    pub(super) fn made(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Writes everything. After an error nothing of it is left.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        let mut made = Vec::new();
        let written = self.write(&mut made);
        if written.is_err() {
            for path in made.iter().rev() {
                // What cannot be removed either is named by the error that is told.
                let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
            }
        }
        written
    }

    fn write(&self, made: &mut Vec<PathBuf>) -> anyhow::Result<()> {
        for (path, text) in &self.files {
            let path = self.root.join(path);
            make(&path, text, made).with_context(|| format!("writing {}", path.display()))?;
        }
        let (path, text) = &self.list;
        let path = self.root.join(path);
        let next = path.with_extension("rs.new");
        let replaced = make(&next, text, made).and_then(|()| fs::rename(&next, &path));
        replaced.with_context(|| format!("replacing {}", path.display()))
    }
}

/// Makes a file that is not there yet, and its folder.
fn make(path: &Path, text: &str, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    let mut file = fs::File::create_new(path)?;
    made.push(path.to_owned());
    file.write_all(text.as_bytes())
}
