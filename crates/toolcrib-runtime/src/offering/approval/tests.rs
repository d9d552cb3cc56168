use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::labels::Labels;
use crate::policy::Policy;
use crate::testing::{RecordingTool, circumstances, definition, registered};

/// One tool under some rules.
struct Case {
    definition: Value,
    policy: ApprovalPolicy,
    untrusted: bool,
    agreed: bool,
}

impl Case {
    fn new(change: &Value) -> Self {
        let mut definition = definition("send_mail");
        for (name, value) in change.as_object().into_iter().flatten() {
            definition[name] = value.clone();
        }
        Self { definition, policy: ApprovalPolicy::default(), untrusted: false, agreed: false }
    }

    fn rule(mut self, tools: &str, argument: Option<(&str, &str)>, answer: RuleAnswer) -> Self {
        let argument = argument.map(|(at, value)| ArgumentRule {
            at: PointerPattern::new(at).expect("a pointer"),
            value: Pattern::new(value),
        });
        self.policy.rules.push(ApprovalRule { tools: Pattern::new(tools), argument, answer });
        self
    }

    fn untrusted(mut self, after: AfterUntrusted) -> Self {
        self.policy.after_untrusted = after;
        self.untrusted = true;
        self
    }

    fn agreed(mut self) -> Self {
        self.agreed = true;
        self
    }

    fn verdict(self, arguments: &Value) -> &'static str {
        let tool = registered(&self.definition, RecordingTool::returning("send_mail", "sent"));
        let mut now = circumstances();
        now.policy = Arc::new(Policy { approval: self.policy, ..Policy::default() });
        now.labels = Labels { untrusted: self.untrusted, ..Labels::default() };
        if self.agreed {
            now.approved_tools = Arc::new(["send_mail".to_owned()].into());
        }
        match judge(&tool, arguments, &now) {
            ApprovalVerdict::Allow => "allow",
            ApprovalVerdict::Ask(_) => "ask",
            ApprovalVerdict::Deny(_) => "deny",
        }
    }
}

#[test]
fn a_definition_says_when_its_tool_asks() {
    let check = |approval: &str, untrusted: bool, expected: &str| {
        let mut case = Case::new(&json!({"approval": approval}));
        case.untrusted = untrusted;
        assert_eq!(case.verdict(&json!({})), expected, "{approval} {untrusted}");
    };
    check("never", false, "allow");
    check("never", true, "allow");
    check("always", false, "ask");
    check("afterUntrusted", false, "allow");
    check("afterUntrusted", true, "ask");
}

#[test]
fn after_untrusted_content_tools_that_act_are_held() {
    let check = |annotations: Value, after: AfterUntrusted, expected: &str| {
        let case = Case::new(&json!({"annotations": annotations})).untrusted(after);
        assert_eq!(case.verdict(&json!({})), expected, "{annotations} {after:?}");
    };
    check(json!({"destructive": true}), AfterUntrusted::Ask, "ask");
    check(json!({"openWorld": true}), AfterUntrusted::Ask, "ask");
    check(json!({"openWorld": true, "readOnly": true}), AfterUntrusted::Ask, "allow");
    check(json!({"readOnly": true}), AfterUntrusted::Ask, "allow");
    check(json!({"destructive": true}), AfterUntrusted::Refuse, "deny");
    check(json!({"destructive": true}), AfterUntrusted::Allow, "allow");
}

#[test]
fn the_strictest_rule_wins_and_allowing_only_lifts_what_the_tool_itself_asks() {
    use RuleAnswer::{Allow, Ask, Deny};
    let always = || Case::new(&json!({"approval": "always"}));
    let to = |who: &str| json!({"q": who});
    assert_eq!(always().rule("send_*", None, Allow).verdict(&json!({})), "allow");
    assert_eq!(always().rule("send_*", None, Allow).rule("*", None, Ask).verdict(&json!({})), "ask");
    assert_eq!(always().rule("send_*", None, Allow).rule("*", None, Deny).verdict(&json!({})), "deny");
    assert_eq!(always().rule("other_*", None, Allow).verdict(&json!({})), "ask");
    let inside = || always().rule("send_mail", Some(("/q", "*@example.org")), Allow);
    assert_eq!(inside().verdict(&to("a@example.org")), "allow");
    assert_eq!(inside().verdict(&to("a@EXAMPLE.org")), "ask", "allowing is exact");
    assert_eq!(inside().verdict(&json!({})), "ask", "allowing needs the argument");
    let outside = || Case::new(&json!({})).rule("*", Some(("/q", "*@evil.example")), Deny);
    assert_eq!(outside().verdict(&to("x@EVIL.example")), "deny", "denying is not fooled by letter case");
    assert_eq!(outside().verdict(&to("x@example.org")), "allow");
}

#[test]
fn what_the_user_agreed_to_for_a_conversation_lifts_asking_and_nothing_else() {
    let ask = || Case::new(&json!({"approval": "always"})).rule("*", None, RuleAnswer::Ask);
    assert_eq!(ask().verdict(&json!({})), "ask");
    assert_eq!(ask().agreed().verdict(&json!({})), "allow");
    assert_eq!(ask().rule("*", None, RuleAnswer::Deny).agreed().verdict(&json!({})), "deny");
    let tainted = Case::new(&json!({"annotations": {"destructive": true}})).untrusted(AfterUntrusted::Refuse);
    assert_eq!(tainted.agreed().verdict(&json!({})), "deny");
}

#[test]
fn rules_and_reasons_are_said_in_words() {
    let rule = ApprovalRule {
        tools: Pattern::new("send_*"),
        argument: Some(ArgumentRule {
            at: PointerPattern::new("/to").expect("a pointer"),
            value: Pattern::new("*@evil.example"),
        }),
        answer: RuleAnswer::Deny,
    };
    assert_eq!(
        Why::Rule(rule.to_string()).to_string(),
        "a rule of the organization says: deny send_* where /to is *@evil.example"
    );
    assert_eq!(RuleAnswer::parse("alow"), Err(Some("allow")));
}
