use super::*;

#[test]
fn an_assistant_of_the_installation_is_a_component_like_the_others() {
    let mut components = Components::default();
    assert!(components.parse("minutes_assistant").is_err());
    components.add_assistant("minutes_assistant").expect("well formed");
    let component = components.parse("minutes_assistant").expect("known now");
    assert!(component.is_assistant());
    assert!(components.parse("chat").is_ok_and(|door| !door.is_assistant()));
    assert_eq!(components.ids().count(), 4 + 13 + 1);
}

#[test]
fn an_unknown_name_is_told_with_what_there_is_and_what_was_meant() {
    let unknown = Components::default().parse("translation_asistant").expect_err("a near miss");
    assert_eq!(unknown.nearest.as_deref(), Some("translation_assistant"));
    let message = unknown.to_string();
    let expected =
        "there is no component \"translation_asistant\"; there are chat, api, mcp, cli, agenda_assistant, ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.ends_with("; did you mean \"translation_assistant\"?"), "{message}");
}

#[test]
fn ids_of_assistants_have_one_form() {
    let long = format!("{}_assistant", "a".repeat(54));
    for id in ["a_assistant", "a1_b_assistant", &long] {
        assert_eq!(Components::default().add_assistant(id), Ok(()), "{id}");
    }
    let too_long = format!("a{long}");
    let wrong = [
        "",
        "assistant",
        "_assistant",
        "1_assistant",
        "A_assistant",
        "a-b_assistant",
        "minutes",
        "chat",
        &too_long,
    ];
    for id in wrong {
        let refused = Components::default().add_assistant(id).expect_err(id);
        assert!(refused.to_string().contains("ends with _assistant"), "{refused}");
    }
}

#[test]
fn capabilities_are_known_by_every_name_they_have() {
    let cases = [
        ("google_search", "web_search"),
        ("web_search", "web_search"),
        ("web_scrap", "read_web_page"),
        ("read_web_page", "read_web_page"),
        ("embedding_search", "embedding_search"),
        ("youtube", "youtube"),
        ("generate_media", "generate_media"),
        ("memory", "memory"),
        ("canvas", "canvas"),
        ("ask_questions", "ask_questions"),
        ("a_tool_of_tomorrow", "a_tool_of_tomorrow"),
    ];
    for (name, canonical) in cases {
        assert_eq!(canonical_capability(name), canonical, "{name}");
        for granted in [name, canonical] {
            let grants = Grants::Only(BTreeSet::from([granted.to_owned()]));
            assert!(grants.contains(name) && grants.contains(canonical), "{granted} grants {name}");
            assert!(!grants.contains("calculate"), "{granted}");
        }
    }
}

#[test]
fn a_capability_is_switched_off_by_whichever_of_its_names() {
    let mut caller = crate::testing::caller();
    caller.switched_off.insert("google_search".to_owned());
    assert!(caller.has_switched_off("web_search") && caller.has_switched_off("google_search"));
    assert!(!caller.has_switched_off("read_web_page"));
}
