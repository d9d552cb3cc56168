use super::*;

fn table() -> BTreeMap<String, BTreeSet<String>> {
    ARROWS
        .iter()
        .map(|(name, targets)| {
            ((*name).to_owned(), targets.iter().map(|target| (*target).to_owned()).collect())
        })
        .collect()
}

/// A workspace of `members`, where each edge is one package's use of another.
fn graph(members: &[&str], edges: &[(&str, &[&str])]) -> Graph {
    let id = |name: &str| PackageId { repr: name.to_owned() };
    let names = edges.iter().flat_map(|(from, to)| std::iter::once(from).chain(to.iter()));
    Graph {
        members: members.iter().map(|name| ((*name).to_owned(), id(name))).collect(),
        names: names.map(|name| (id(name), (*name).to_owned())).collect(),
        edges: edges.iter().map(|(from, to)| (id(from), to.iter().map(|name| id(name)).collect())).collect(),
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_workspace_keeps_the_arrows() {
    let findings = lines(&check(&crate::workspace_root()).unwrap());
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn the_metadata_of_the_workspace_is_really_read() {
    let metadata =
        MetadataCommand::new().manifest_path(crate::workspace_root().join("Cargo.toml")).exec().unwrap();
    let graph = Graph::new(&metadata).unwrap();
    assert!(graph.direct("toolcrib-storage").contains("sqlx"));
    assert!(graph.behind("toolcrib-storage").contains("sqlx-core"));
    assert!(
        !graph.behind("toolcrib-server").contains("sqlx-core"),
        "a sibling's dependencies are the sibling's"
    );
}

#[test]
fn a_new_arrow_a_lost_arrow_and_a_new_crate_are_found() {
    let mut used = table();
    used.get_mut("toolcrib-storage").unwrap().insert("toolcrib-egress".to_owned());
    used.get_mut("toolcrib-web").unwrap().clear();
    used.insert("toolcrib-extra".to_owned(), BTreeSet::new());
    assert_eq!(
        lines(&check_arrows(&used)),
        [
            "toolcrib-extra: is not in the table of arrows: add it in xtask/src/arrows.rs",
            "toolcrib-storage: must not use toolcrib-egress: there is no arrow between them",
            "toolcrib-web: no longer uses toolcrib-egress: remove the arrow from the table",
        ]
    );
    assert_eq!(check_arrows(&table()), []);
}

#[test]
fn a_confined_dependency_is_found_when_named_and_when_behind_another() {
    let findings = check_confined(&graph(
        &["toolcrib-runtime", "toolcrib-web"],
        &[("toolcrib-runtime", &["axum"]), ("toolcrib-web", &["fetcher"]), ("fetcher", &["reqwest"])],
    ));
    let found = lines(&findings);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("toolcrib-runtime: must not depend on axum"), "{found:?}");
    assert!(found[1].starts_with("toolcrib-web: must not have reqwest behind"), "{found:?}");
}

#[test]
fn what_a_sibling_brings_is_the_siblings() {
    let graph = graph(
        &["toolcrib-web", "toolcrib-egress"],
        &[("toolcrib-web", &["toolcrib-egress"]), ("toolcrib-egress", &["hyper"])],
    );
    assert_eq!(check_confined(&graph), []);
}

#[test]
fn a_confined_feature_is_found_where_it_is_forbidden() {
    let asked = |member: &str, package: &str, feature: &str| {
        lines(&check_features(&[(member.to_owned(), package.to_owned(), feature.to_owned())]))
    };
    assert_eq!(asked("toolcrib-server", "hyper-util", "client-legacy").len(), 1);
    assert_eq!(asked("toolcrib-server", "hyper-util", "server"), [""; 0]);
    assert_eq!(asked("toolcrib-egress", "hyper-util", "client-legacy"), [""; 0]);
    assert_eq!(asked("toolcrib-runtime", "tokio", "net").len(), 1);
    assert_eq!(asked("toolcrib-server", "tokio", "net"), [""; 0]);
}

#[test]
fn the_asked_features_are_really_read() {
    let metadata =
        MetadataCommand::new().manifest_path(crate::workspace_root().join("Cargo.toml")).exec().unwrap();
    let client =
        |feature: &&(String, String, String)| feature.1 == "hyper-util" && feature.2.starts_with("client");
    let asked = asked_features(&metadata);
    assert!(asked.iter().filter(client).all(|(member, _, _)| member == "toolcrib-egress"));
    assert!(asked.iter().any(|feature| client(&feature)), "toolcrib-egress asks for the client");
}
