//! What models and administrators read of the built-in tools, held fast.

use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_tools::builtin::builtin;

#[tokio::test]
async fn definitions_change_only_on_purpose() {
    let egress = Egress::new(EgressSettings::default()).unwrap();
    for file in builtin(&egress).definitions {
        let name = file.file.split('/').nth(1).unwrap();
        let definition: serde_json::Value = serde_json::from_str(file.text.as_deref().unwrap()).unwrap();
        insta::assert_json_snapshot!(name, definition);
    }
}
