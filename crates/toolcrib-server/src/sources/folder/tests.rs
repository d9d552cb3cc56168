use super::*;

fn listing(folder: &ToolsFolder) -> Vec<(String, Result<String, Unreadable>)> {
    folder.with_state(|state| {
        state.look(&folder.path, folder.required);
        let files = state.files.values();
        let name = |file: &DefinitionFile| file.file.rsplit('/').take(2).collect::<Vec<_>>().join("<");
        files.map(|seen| (name(&seen.file), seen.file.text.clone().map(|text| text.to_string()))).collect()
    })
}

fn names(folder: &ToolsFolder) -> Vec<String> {
    listing(folder)
        .into_iter()
        .map(|(name, _)| name.split('<').next().unwrap_or_default().to_owned())
        .collect()
}

fn changed(folder: &ToolsFolder) -> bool {
    folder.with_state(|state| {
        state.look(&folder.path, folder.required);
        std::mem::take(&mut state.unlisted)
    })
}

#[test]
fn definitions_are_the_json_files_and_those_of_the_folders_in_it() {
    let data = tempfile::tempdir().expect("a folder");
    let write = |name: &str| {
        let path = data.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, name).expect("written");
    };
    for name in [
        "b.json",
        "A.JSON",
        "notes.txt",
        ".draft.json",
        "own/definition.json",
        "own/other.json",
        "own/deep/definition.json",
    ] {
        write(name);
    }
    let folder = ToolsFolder::optional(data.path().to_owned());
    assert_eq!(names(&folder), ["A.JSON", "b.json", "definition.json"]);
}

#[test]
fn a_change_is_seen_once_whatever_kind_it_is() {
    let data = tempfile::tempdir().expect("a folder");
    let path = data.path().join("tools");
    let folder = ToolsFolder::optional(path.clone());
    assert!(!changed(&folder), "a folder that need not be there is no news");
    std::fs::create_dir(&path).expect("made");
    assert!(!changed(&folder));
    let file = path.join("a.json");
    let check = |change: &dyn Fn()| {
        change();
        assert!(changed(&folder));
        for _ in 0..2 * SETTLING {
            assert!(!changed(&folder), "seen before");
        }
    };
    check(&|| std::fs::write(&file, "one").expect("written"));
    check(&|| std::fs::write(&file, "two").expect("written"));
    check(&|| std::fs::write(&file, b"\xff\xfe").expect("written"));
    check(&|| std::fs::rename(&file, path.join("b.json")).expect("renamed"));
    check(&|| std::fs::remove_dir_all(&path).expect("removed"));
}

#[test]
fn two_writes_at_one_moment_are_both_seen() {
    let data = tempfile::tempdir().expect("a folder");
    let folder = ToolsFolder::optional(data.path().to_owned());
    let file = data.path().join("a.json");
    std::fs::write(&file, "one").expect("written");
    let when = std::fs::metadata(&file).and_then(|data| data.modified()).expect("a time");
    assert!(changed(&folder));
    std::fs::write(&file, "two").expect("written");
    std::fs::File::options()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_modified(when))
        .expect("set back");
    assert!(changed(&folder));
    assert_eq!(listing(&folder)[0].1, Ok("two".to_owned()));
}

#[test]
fn what_cannot_be_read_is_there_all_the_same() {
    let data = tempfile::tempdir().expect("a folder");
    let folder = ToolsFolder::optional(data.path().to_owned());
    std::fs::write(data.path().join("bytes.json"), b"\xff").expect("written");
    std::fs::write(data.path().join("large.json"), " ".repeat(1024 * 1024 + 1)).expect("written");
    let found = listing(&folder);
    assert!(matches!(found[0].1, Err(Unreadable::NotUtf8)), "{:?}", found[0]);
    assert!(matches!(found[1].1, Err(Unreadable::TooLarge { .. })));
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_in_a_circle_or_twice_to_a_file_end() {
    use std::os::unix::fs::symlink;
    let data = tempfile::tempdir().expect("a folder");
    let at = |name: &str| data.path().join(name);
    std::fs::create_dir(at("own")).expect("made");
    std::fs::write(at("own/definition.json"), "{}").expect("written");
    symlink(data.path(), at("loop")).expect("linked");
    symlink(at("own"), at("twin")).expect("linked");
    symlink(at("own/definition.json"), at("twin.json")).expect("linked");
    symlink(at("round.json"), at("round.json")).expect("linked");
    symlink(at("nowhere"), at("lost.json")).expect("linked");
    symlink("/dev/zero", at("device.json")).expect("linked");
    let folder = ToolsFolder::optional(data.path().to_owned());
    let found = listing(&folder);
    let readable: Vec<_> =
        found.iter().filter(|(_, text)| text.is_ok()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(readable, ["definition.json<own"]);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_folder_that_somebody_named_is_missed() {
    let data = tempfile::tempdir().expect("a folder");
    let folder = ToolsFolder::required(data.path().join("not_there"));
    assert!(changed(&folder));
    let problem = folder.with_state(|state| state.problem.clone()).expect("a problem");
    assert_eq!(problem.found, "a folder that is not there");
    std::fs::write(data.path().join("not_there"), "a file").expect("written");
    assert!(changed(&folder));
    let problem = folder.with_state(|state| state.problem.clone()).expect("a problem");
    assert!(problem.found.starts_with("a folder that cannot be read"), "{problem}");
}

#[test]
fn thousands_of_files_are_looked_at_without_reading_them_again() {
    let data = tempfile::tempdir().expect("a folder");
    for index in 0..3_000 {
        std::fs::write(data.path().join(format!("{index}.json")), "{}").expect("written");
    }
    let folder = ToolsFolder::optional(data.path().to_owned());
    assert_eq!(listing(&folder).len(), 3_000);
    for _ in 0..=SETTLING {
        changed(&folder);
    }
    assert!(folder.with_state(|state| state.files.values().all(|seen| seen.settling == 0)));
}
