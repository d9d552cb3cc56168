use super::*;

fn list(text: &str) -> HostList {
    HostList::parse(text).unwrap()
}

fn name(text: &str) -> TargetHost {
    TargetHost::Name(text.to_owned())
}

fn address(text: &str) -> TargetHost {
    TargetHost::Address(text.parse().unwrap())
}

#[test]
fn entries_are_separated_by_commas_semicolons_and_line_ends() {
    assert_eq!(list("a.example, b.example;c.example\r\nd.example\n\n , ;").len(), 4);
    assert!(list("").is_empty());
    assert!(list(" ;,\n").is_empty());
}

#[test]
fn an_entry_means_https_on_its_port_unless_it_says_http() {
    let hosts = list("wiki.corp.example, http://plain.corp.example, https://grafana:3000, http://old:8080");
    for (secure, host, port, expected) in [
        (true, "wiki.corp.example", 443, true),
        (false, "wiki.corp.example", 80, false),
        (false, "wiki.corp.example", 443, false),
        (true, "wiki.corp.example", 8443, false),
        (false, "plain.corp.example", 80, true),
        (true, "plain.corp.example", 443, false),
        (true, "grafana", 3000, true),
        (true, "grafana", 443, false),
        (false, "old", 8080, true),
        (false, "old", 80, false),
    ] {
        assert_eq!(hosts.contains(secure, &name(host), port), expected, "{secure} {host} {port}");
    }
}

#[test]
fn a_star_means_sub_domains_at_any_depth_and_not_the_root() {
    let hosts = list("*.corp.example");
    for (host, expected) in [
        ("a.corp.example", true),
        ("a.b.c.corp.example", true),
        ("corp.example", false),
        ("notcorp.example", false),
        ("corp.example.net", false),
    ] {
        assert_eq!(hosts.contains(true, &name(host), 443), expected, "{host}");
    }
}

#[test]
fn case_trailing_dots_and_spellings_of_addresses_do_not_matter() {
    let hosts = list(
        "WIKI.Corp.Example., 10.1.2.3, [FD12::1]:8443, fd12:0::2, http://192.168.1:81, münchen.corp.example",
    );
    assert!(hosts.contains(true, &name("wiki.corp.example"), 443));
    assert!(hosts.contains(true, &address("10.1.2.3"), 443));
    assert!(hosts.contains(true, &address("fd12::1"), 8443));
    assert!(hosts.contains(true, &address("fd12::2"), 443));
    assert!(hosts.contains(false, &address("192.168.0.1"), 81));
    assert!(hosts.contains(true, &name("xn--mnchen-3ya.corp.example"), 443));
}

#[test]
fn every_invalid_entry_is_named_and_none_is_used() {
    for (entry, expected) in [
        ("ftp://host.example", HostProblem::Scheme),
        ("://host.example", HostProblem::Scheme),
        ("host.example/path", HostProblem::NotOnlyHost),
        ("https://host.example/", HostProblem::NotOnlyHost),
        ("user@host.example", HostProblem::NotOnlyHost),
        ("host.example?x", HostProblem::NotOnlyHost),
        ("host .example", HostProblem::NotOnlyHost),
        ("host.example:", HostProblem::Port),
        ("host.example:0", HostProblem::Port),
        ("host.example:65536", HostProblem::Port),
        ("host.example:+80", HostProblem::Port),
        ("host.example:80:81", HostProblem::Port),
        ("https://", HostProblem::Host),
        ("[fd12::1", HostProblem::Host),
        ("[10.0.0.1]", HostProblem::Host),
        ("[fd12::1]x", HostProblem::Host),
        ("a..example", HostProblem::Host),
        ("a%2eexample", HostProblem::Host),
        ("ex^ample", HostProblem::Host),
        ("1.2.3.4.5", HostProblem::Host),
        ("*", HostProblem::Wildcard),
        ("*corp.example", HostProblem::Wildcard),
        ("a.*.example", HostProblem::Wildcard),
        ("*.*.example", HostProblem::Wildcard),
        ("*.10.0.0.1", HostProblem::Wildcard),
        ("127.0.0.1", HostProblem::NeverReachable),
        ("0x7f.1:8080", HostProblem::NeverReachable),
        ("[::1]:3000", HostProblem::NeverReachable),
        ("169.254.169.254", HostProblem::NeverReachable),
        ("[::ffff:10.0.0.1]", HostProblem::NeverReachable),
        ("LOCALHOST.:3000", HostProblem::NeverReachable),
    ] {
        let problems = HostList::parse(&format!("good.example, {entry}\n10.0.0.1")).unwrap_err();
        assert_eq!(problems, [HostListProblem { entry: entry.to_owned(), problem: expected }], "{entry}");
        assert!(problems[0].to_string().contains(entry));
    }
    assert_eq!(HostList::parse("*;a/b;ok.example").unwrap_err().len(), 2);
}
