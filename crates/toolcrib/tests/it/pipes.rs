//! Standard input and output that are pipes, files, or gone.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use crate::harness::{Home, ended, piped, wait};

const ASK: [&str; 3] = ["ask", "-m", "toolcrib/demo"];

fn ask(words: &[&'static str]) -> Vec<&'static str> {
    ASK.into_iter().chain(words.iter().copied()).collect()
}

#[test]
fn what_is_piped_in_is_the_question_or_is_added_to_it() {
    let home = Home::new();
    for words in [&[][..], &["-"]] {
        let answer = home.run_with_input(&ask(words), b"calculate 20 + 3\n").with_code(0);
        assert!(answer.out.contains("= 23"), "{answer:?}");
    }
    for words in [&["calculate"][..], &["calculate", "-"]] {
        let answer = home.run_with_input(&ask(words), b"20 + 3\n").with_code(0);
        assert!(answer.out.contains("= 23"), "{answer:?}");
    }
    let file = home.write("question.txt", "20 + 3");
    let mut command = home.command(&ask(&["calculate"]));
    let answer = ended(command.stdin(File::open(file).unwrap()).output().unwrap()).with_code(0);
    assert!(answer.out.contains("= 23"), "{answer:?}");
}

#[test]
fn no_question_and_no_text_are_told() {
    let home = Home::new();
    let told = home.run(&ASK).with_code(1);
    assert_eq!(told.err, "error: no question: write one behind `ask`, or pipe one in\n");
    let told = home.run_with_input(&ASK, b"\xff\xfe").with_code(1);
    assert!(told.err.contains("not UTF-8"), "{told:?}");
}

#[test]
fn an_open_and_silent_pipe_does_not_hold_a_question_up() {
    let home = Home::new();
    let mut child = piped(&mut home.command(&ask(&["calculate 20 + 3"])));
    let open = child.stdin.take();
    assert_eq!(wait(&mut child), Some(0));
    drop(open);
    let answer = ended(child.wait_with_output().unwrap());
    assert!(answer.out.contains("= 23"), "{answer:?}");
    assert!(answer.err.contains("Nothing comes on standard input"), "{answer:?}");
}

#[test]
fn a_dash_waits_for_a_slow_pipe() {
    let home = Home::new();
    let mut child = piped(&mut home.command(&ask(&["calculate", "-"])));
    let mut input = child.stdin.take().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3500));
    input.write_all(b"20 + 3").unwrap();
    drop(input);
    let answer = ended(child.wait_with_output().unwrap()).with_code(0);
    assert!(answer.out.contains("= 23"), "{answer:?}");
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let home = Home::new();
    for arguments in [&["schema", "errors"][..], &["tools"], &ask(&["calculate 20 + 3"])] {
        let mut child = home
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(wait(&mut child), Some(0), "{arguments:?}");
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(!told.contains("error") && !told.contains("panicked"), "{told}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let home = Home::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let told = ended(home.command(&["schema", "errors"]).stdout(full).output().unwrap()).with_code(1);
    assert!(told.err.contains("writing to standard output"), "{told:?}");
}

#[test]
fn colors_are_used_where_they_are_wanted() {
    let home = Home::new();
    for (variables, colored) in
        [(&[("CLICOLOR_FORCE", "1")][..], true), (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false)]
    {
        let mut command = home.command(&["tools"]);
        let list = ended(command.envs(variables.iter().copied()).output().unwrap()).with_code(0);
        assert_eq!(list.out.contains("\u{1b}[1mcalculate\u{1b}[0m"), colored, "{list:?}");
        assert_eq!(list.out.contains('\u{1b}'), colored, "{list:?}");
    }
}

#[test]
fn no_escapes_are_written_to_pipes() {
    let home = Home::new();
    let answer = home.run(&ask(&["calculate 20 + 3"])).with_code(0);
    assert!(!answer.out.contains('\u{1b}') && !answer.err.contains('\u{1b}'), "{answer:?}");
    let lines = BufReader::new(answer.err.as_bytes()).lines().map(Result::unwrap).collect::<Vec<_>>();
    assert!(lines.iter().any(|line| line.starts_with("🧮 Calculator {\"expression\":")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("   ✓ SUCCESS ")), "{lines:?}");
}
