use super::*;

fn target(url: &str, hosts: &str) -> Target {
    let policy = Policy::PublicAndHosts(HostList::parse(hosts).unwrap());
    Target::judge(url, None, &policy).unwrap()
}

fn judged(url: &str, hosts: &str, answers: &[&str], own: &[&str]) -> Result<Zone, Rule> {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
    let own = parse(own).into_iter().collect();
    admit(&target(url, hosts), &parse(answers), &own).map(|admitted| admitted.zone)
}

#[test]
fn one_bad_address_refuses_the_whole_name_wherever_it_stands() {
    let mut answers = vec!["93.184.215.14"; 40];
    for position in 0..answers.len() {
        answers[position] = "10.0.0.1";
        let rule = judged("http://example.com/", "", &answers, &[]).unwrap_err();
        assert_eq!(rule, Rule::PrivateAddress("10.0.0.1".parse().unwrap()));
        answers[position] = "93.184.215.14";
    }
    assert_eq!(judged("http://example.com/", "", &answers, &[]), Ok(Zone::Public));
}

#[test]
fn listing_a_host_opens_private_ranges_and_nothing_else() {
    let answers_with =
        |answers: &[&str]| judged("https://wiki.corp.example/", "wiki.corp.example", answers, &[]);
    for private in ["10.1.2.3", "172.20.0.1", "192.168.1.1", "fd12::1"] {
        assert_eq!(answers_with(&[private]), Ok(Zone::Private), "{private}");
    }
    for never in [
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "224.0.0.1",
        "100.100.100.200",
        "fd00:ec2::254",
        "::1",
        "::",
        "fe80::1",
        "::ffff:10.1.2.3",
    ] {
        assert!(matches!(answers_with(&[never]), Err(Rule::ForbiddenAddress(..))), "{never}");
        assert!(matches!(answers_with(&["10.1.2.3", never]), Err(Rule::ForbiddenAddress(..))), "{never}");
    }
    assert_eq!(answers_with(&["10.1.2.3", "93.184.215.14"]), Err(Rule::MixedZones));
}

#[test]
fn addresses_of_this_machine_are_refused_even_if_public_or_listed() {
    let own = ["93.184.215.14", "10.1.2.3"];
    let rule = judged("http://example.com/", "", &["93.184.215.14"], &own);
    assert_eq!(rule, Err(Rule::OwnAddress("93.184.215.14".parse().unwrap())));
    let rule = judged("https://wiki.corp.example/", "wiki.corp.example", &["10.1.2.3"], &own);
    assert_eq!(rule, Err(Rule::OwnAddress("10.1.2.3".parse().unwrap())));
    let rule = judged("http://example.com/", "", &["::ffff:93.184.215.14"], &own);
    assert_eq!(rule, Err(Rule::OwnAddress("::ffff:93.184.215.14".parse().unwrap())));
}

#[test]
fn a_listed_host_that_is_public_has_to_keep_the_public_rules() {
    let public = ["93.184.215.14"];
    assert_eq!(judged("https://www.example.net/", "www.example.net", &public, &[]), Ok(Zone::Public));
    assert_eq!(
        judged("https://www.example.net:22/", "www.example.net:22", &public, &[]),
        Err(Rule::PublicPort(22))
    );
    assert_eq!(judged("https://wiki/", "wiki", &public, &[]), Err(Rule::SingleLabelName));
    assert_eq!(judged("https://wiki.corp/", "wiki.corp", &public, &[]), Err(Rule::SpecialUseName));
    assert_eq!(judged("https://wiki/", "wiki", &["10.0.0.1"], &[]), Ok(Zone::Private));
    assert_eq!(judged("https://10.0.0.1:3000/", "10.0.0.1:3000", &["10.0.0.1"], &[]), Ok(Zone::Private));
}

#[test]
fn a_repeated_address_is_connected_to_once() {
    let answers = vec!["93.184.215.14".parse().unwrap(); 3];
    let admitted = admit(&target("http://example.com/", ""), &answers, &HashSet::new()).unwrap();
    assert_eq!(admitted.addresses.len(), 1);
}
