use super::*;

fn problem(text: &str) -> Option<UrlProblem> {
    match Target::judge(text, None, &Policy::Public) {
        Err(NoTarget::Problem(problem)) => Some(problem),
        Err(NoTarget::Refused(_)) | Ok(_) => None,
    }
}

#[test]
fn each_kind_of_problem_is_recognized() {
    for (text, expected) in [
        ("", UrlProblem::NotAbsolute),
        ("   ", UrlProblem::NotAbsolute),
        ("example.com", UrlProblem::NotAbsolute),
        ("http://", UrlProblem::NotAbsolute),
        ("file:///etc/passwd", UrlProblem::Scheme),
        ("ftp://user:pass@example.com/", UrlProblem::Scheme),
        ("http://@example.com/", UrlProblem::Credentials),
        ("http://:@example.com/", UrlProblem::Credentials),
        ("http://a@b@example.com/", UrlProblem::Credentials),
        ("http://example.com:81/", UrlProblem::Port),
        ("http://example.com:70000/", UrlProblem::Port),
        ("http://exa*mple.com/", UrlProblem::Host),
        ("http://a..example.com/", UrlProblem::Host),
        ("http:example.com/", UrlProblem::Ambiguous),
        ("http:///example.com/", UrlProblem::Ambiguous),
        ("http://example.com/a\\b", UrlProblem::Ambiguous),
        ("http://example.com/a\tb", UrlProblem::Ambiguous),
        ("http://example.com/\u{85}", UrlProblem::Ambiguous),
        ("http://example.com/\u{2028}", UrlProblem::Ambiguous),
    ] {
        assert_eq!(problem(text), Some(expected), "{text:?}");
    }
    assert_eq!(problem(&format!("http://example.com/{}", "a".repeat(2030))), Some(UrlProblem::TooLong));
}

#[test]
fn every_case_that_the_parser_should_reject_is_rejected_as_a_text() {
    let mut rows = 0;
    for row in include_str!("../../tests/cases/url-guard.tsv").lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        // Rows with escapes are covered by the tests that read them through a whole fetch.
        if columns[3] == "reject-parse" && !columns[2].contains('\\') {
            assert!(problem(columns[2]).is_some(), "{row}");
            rows += 1;
        }
    }
    assert!(rows > 50, "only {rows} rows");
}

#[test]
fn the_canonical_host_is_what_is_resolved_and_sent() {
    for (text, host, field) in [
        ("http://EXAMPLE.com./", "example.com", "example.com"),
        (" https://example.com:8443/x ", "example.com", "example.com:8443"),
        ("https://faß.de/", "xn--fa-hia.de", "xn--fa-hia.de"),
        ("http://8.8.2056/", "8.8.8.8", "8.8.8.8"),
        ("http://[2606:4700:4700:0::1111]:8080/", "2606:4700:4700::1111", "[2606:4700:4700::1111]:8080"),
    ] {
        let target = Target::judge(text, None, &Policy::Public).unwrap();
        assert_eq!((target.host().to_string().as_str(), target.host_field().as_str()), (host, field));
        assert!(!target.url().host_str().unwrap().ends_with('.'));
    }
}

#[test]
fn special_use_names_are_refused_at_every_depth_and_look_alikes_are_not() {
    for (name, refused) in [
        ("localhost", true),
        ("a.b.localhost", true),
        ("metadata.google.internal", true),
        ("x.metadata.goog", true),
        ("metadata.goog", true),
        ("1.0.0.127.in-addr.arpa", true),
        ("router.home.arpa", true),
        ("intranet", true),
        ("com", true),
        ("notlocalhost.com", false),
        ("localhost.com", false),
        ("mylocal.dev", false),
        ("goog.com", false),
        ("xmetadata.goog", false),
    ] {
        let result = Target::judge(&format!("https://{name}/"), None, &Policy::Public);
        assert_eq!(matches!(result, Err(NoTarget::Refused(_))), refused, "{name}");
    }
}
