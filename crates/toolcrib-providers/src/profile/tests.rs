use std::collections::BTreeSet;

use super::*;

#[test]
fn families_have_their_own_names() {
    let names: BTreeSet<_> = Profile::ALL.iter().map(|profile| profile.family).collect();
    assert_eq!(names.len(), Profile::ALL.len());
    assert!(Profile::ALL.iter().all(|profile| Profile::by_family(profile.family) == Some(*profile)));
    assert_eq!(Profile::by_family("nobody"), None);
}

#[test]
fn default_models_follow_the_preference_then_the_list() {
    let models = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let profile = Profile::by_family("ollama").unwrap();
    let listed = models(&["nomic-embed-text:latest", "llama3.2:1b", "qwen3:8b"]);
    assert_eq!(profile.default_model(&listed), Some("qwen3:8b"));
    assert_eq!(profile.default_model(&models(&["mine"])), Some("mine"));
    assert_eq!(profile.default_model(&[]), None);
}
