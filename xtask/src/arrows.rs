//! Which crate may use which, and who alone may use a heavy dependency.
//!
//! The table is exact: an arrow that is not in it is forbidden, and one that no crate needs any more is removed from
//! it. Dependencies of tests are free.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

use crate::finding::Finding;

/// Each crate of the workspace, with those of the workspace that it uses.
const ARROWS: &[(&str, &[&str])] = &[
    ("toolcrib", &["toolcrib-server"]),
    (
        "toolcrib-server",
        &["toolcrib-egress", "toolcrib-providers", "toolcrib-runtime", "toolcrib-storage", "toolcrib-tools"],
    ),
    ("toolcrib-providers", &["toolcrib-egress", "toolcrib-runtime"]),
    ("toolcrib-tools", &["toolcrib-egress", "toolcrib-runtime", "toolcrib-web"]),
    ("toolcrib-storage", &["toolcrib-runtime"]),
    ("toolcrib-web", &["toolcrib-egress"]),
    ("toolcrib-runtime", &[]),
    ("toolcrib-egress", &[]),
    ("toolcrib-bench", &[]),
    ("xtask", &[]),
];

/// A dependency that only some crates of the workspace bring in.
struct Confined {
    /// A package, or a family of packages when the name ends with `*`.
    package: &'static str,
    /// Who may name it as a dependency.
    direct: &'static [&'static str],
    /// Who may have it behind other packages.
    behind: &'static [&'static str],
    /// Why.
    reason: &'static str,
}

const CONFINED: &[Confined] = &[
    Confined {
        package: "axum*",
        direct: &["toolcrib-server"],
        behind: &["toolcrib-server"],
        reason: "only the server answers HTTP",
    },
    Confined {
        package: "sqlx*",
        direct: &["toolcrib-storage"],
        behind: &["toolcrib-storage"],
        reason: "only the storage speaks to a database",
    },
    Confined {
        package: "hyper*",
        direct: &["toolcrib-egress", "toolcrib-server"],
        behind: &["toolcrib-egress", "toolcrib-server"],
        reason: "only toolcrib-egress opens HTTP connections, and only the server accepts them",
    },
    Confined {
        package: "hickory-*",
        direct: &["toolcrib-egress"],
        behind: &["toolcrib-egress"],
        reason: "only toolcrib-egress resolves names",
    },
    Confined {
        package: "tokio-rustls",
        direct: &["toolcrib-egress"],
        behind: &["toolcrib-egress"],
        reason: "every outbound connection is made by toolcrib-egress",
    },
    Confined { package: "reqwest", direct: &[], behind: &[], reason: "toolcrib-egress is the HTTP client" },
    Confined { package: "ureq", direct: &[], behind: &[], reason: "toolcrib-egress is the HTTP client" },
    Confined { package: "curl*", direct: &[], behind: &[], reason: "toolcrib-egress is the HTTP client" },
];

/// Features of a package that some crates of the workspace must not ask for.
struct ConfinedFeatures {
    /// The package.
    package: &'static str,
    /// The features; one that ends with `*` stands for a family.
    features: &'static [&'static str],
    /// Whether a crate of the workspace is forbidden to ask for them.
    forbidden_for: fn(&str) -> bool,
    /// Why.
    reason: &'static str,
}

const CONFINED_FEATURES: &[ConfinedFeatures] = &[
    ConfinedFeatures {
        package: "tokio",
        features: &["fs", "full", "net", "process", "signal"],
        forbidden_for: |member| member == "toolcrib-runtime",
        reason: "the runtime awaits only its own traits",
    },
    ConfinedFeatures {
        package: "hyper",
        features: &["client*", "full"],
        forbidden_for: |member| member != "toolcrib-egress",
        reason: "every outbound connection is made by toolcrib-egress",
    },
    ConfinedFeatures {
        package: "hyper-util",
        features: &["client*", "full"],
        forbidden_for: |member| member != "toolcrib-egress",
        reason: "every outbound connection is made by toolcrib-egress",
    },
];

/// Every forbidden or needless arrow of the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned(), "--filter-platform".to_owned(), platform().to_owned()])
        .exec()
        .context("cannot read the metadata of the workspace")?;
    let mut findings = check_arrows(&siblings(&metadata));
    findings.extend(check_confined(&Graph::new(&metadata)?));
    findings.extend(check_features(&asked_features(&metadata)));
    findings.sort();
    Ok(findings)
}

/// The platform whose packages a build on this machine has downloaded.
fn platform() -> &'static str {
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" }
}

fn check_arrows(used: &BTreeMap<String, BTreeSet<String>>) -> Vec<Finding> {
    let table: BTreeMap<&str, BTreeSet<&str>> =
        ARROWS.iter().map(|(name, targets)| (*name, targets.iter().copied().collect())).collect();
    let mut findings = Vec::new();
    for (name, targets) in used {
        let Some(allowed) = table.get(name.as_str()) else {
            findings
                .push(Finding::whole(name, "is not in the table of arrows: add it in xtask/src/arrows.rs"));
            continue;
        };
        for target in targets.iter().filter(|target| !allowed.contains(target.as_str())) {
            findings
                .push(Finding::whole(name, format!("must not use {target}: there is no arrow between them")));
        }
        for target in allowed.iter().filter(|target| !targets.contains(**target)) {
            findings.push(Finding::whole(
                name,
                format!("no longer uses {target}: remove the arrow from the table"),
            ));
        }
    }
    for name in table.keys().filter(|name| !used.contains_key(**name)) {
        findings.push(Finding::whole(name, "is in the table of arrows, but not in the workspace"));
    }
    findings
}

fn check_confined(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in graph.members.keys() {
        let direct = graph.direct(member);
        let behind = graph.behind(member);
        for confined in CONFINED {
            let named = direct.iter().find(|name| matches(confined.package, name));
            let reached = behind.iter().find(|name| matches(confined.package, name));
            if let Some(name) = named.filter(|_| !confined.direct.contains(&member.as_str())) {
                findings
                    .push(Finding::whole(member, format!("must not depend on {name}: {}", confined.reason)));
            } else if let Some(name) = reached.filter(|_| !confined.behind.contains(&member.as_str())) {
                let message = format!("must not have {name} behind its dependencies: {}", confined.reason);
                findings.push(Finding::whole(member, message));
            }
        }
    }
    findings
}

/// Findings of `(crate, package, feature)`, each a feature that a crate of the workspace asks of a package.
fn check_features(asked: &[(String, String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (member, package, feature) in asked {
        let confined = CONFINED_FEATURES.iter().find(|confined| {
            confined.package == package
                && confined.features.iter().any(|pattern| matches(pattern, feature))
                && (confined.forbidden_for)(member)
        });
        if let Some(confined) = confined {
            let message = format!("must not use the feature `{feature}` of {package}: {}", confined.reason);
            findings.push(Finding::whole(member, message));
        }
    }
    findings
}

fn asked_features(metadata: &Metadata) -> Vec<(String, String, String)> {
    let mut asked = Vec::new();
    for package in metadata.workspace_packages() {
        for dependency in
            package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal)
        {
            for feature in &dependency.features {
                asked.push((package.name.to_string(), dependency.name.clone(), feature.clone()));
            }
        }
    }
    asked
}

/// Whether `pattern` is `name`, or its beginning with a `*` after it.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(family) => name.starts_with(family),
        None => name == pattern,
    }
}

/// The crates of the workspace, each with those that it uses outside its tests.
fn siblings(metadata: &Metadata) -> BTreeMap<String, BTreeSet<String>> {
    let members = metadata.workspace_packages();
    let names: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
    members
        .iter()
        .map(|package| {
            let used = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development);
            let used = used.map(|dependency| dependency.name.as_str()).filter(|name| names.contains(name));
            (package.name.to_string(), used.map(str::to_owned).collect())
        })
        .collect()
}

/// What each package uses outside its tests, as Cargo resolved it for this platform.
struct Graph {
    members: BTreeMap<String, PackageId>,
    names: HashMap<PackageId, String>,
    edges: HashMap<PackageId, Vec<PackageId>>,
}

impl Graph {
    fn new(metadata: &Metadata) -> anyhow::Result<Self> {
        let resolve = metadata.resolve.as_ref().context("cargo gave no resolved dependencies")?;
        let members = metadata.workspace_packages();
        let members = members.iter().map(|package| (package.name.to_string(), package.id.clone())).collect();
        let names =
            metadata.packages.iter().map(|package| (package.id.clone(), package.name.to_string())).collect();
        let edges = resolve.nodes.iter().map(|node| {
            let normal = node.deps.iter().filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
            });
            (node.id.clone(), normal.map(|dependency| dependency.pkg.clone()).collect())
        });
        Ok(Self { members, names, edges: edges.collect() })
    }

    /// The packages that a crate of the workspace names itself.
    fn direct(&self, member: &str) -> BTreeSet<&str> {
        let id = self.members.get(member);
        id.and_then(|id| self.edges.get(id)).into_iter().flatten().map(|id| self.name(id)).collect()
    }

    /// The packages behind a crate of the workspace, without what other crates of the workspace bring.
    fn behind(&self, member: &str) -> BTreeSet<&str> {
        let mut open: Vec<&PackageId> = self.members.get(member).into_iter().collect();
        let mut seen: BTreeSet<&PackageId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            for next in self.edges.get(id).into_iter().flatten() {
                if !self.members.values().any(|sibling| sibling == next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen.into_iter().map(|id| self.name(id)).collect()
    }

    fn name(&self, id: &PackageId) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests;
