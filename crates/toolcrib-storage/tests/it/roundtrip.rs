//! Whatever text a message or a title has, it comes back from the database as it went in.

use proptest::prelude::*;
use toolcrib_runtime::journal::{Journal, RunStart};
use toolcrib_runtime::message::{Message, Part};
use toolcrib_storage::record::Owner;
use toolcrib_storage::store::{ConversationStore, Store};

use crate::folder::{Folder, conversation, start};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn texts_and_opaque_values_come_back(
        texts in prop::collection::vec(any::<String>(), 1..12),
        key in any::<String>(),
        number in any::<f64>().prop_filter("JSON has no infinity", |number| number.is_finite()),
        title in any::<String>(),
    ) {
        let mut messages: Vec<_> = texts.iter().map(Message::user).collect();
        messages.extend(texts.iter().map(|text| {
            Message::User(vec![Part::Opaque(serde_json::json!({ &key: [text, number] }))])
        }));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (stored, found) = runtime.block_on(async {
            let folder = Folder::new();
            let store = folder.open().await;
            conversation(&store, "c").await;
            store.rename_conversation(&Owner::first(), "c", &title).await.unwrap();
            store.begin_run(RunStart { messages: messages.clone(), ..start("r", "c") }).await.unwrap();
            let stored = store.messages(&Owner::first(), "c").await.unwrap().unwrap();
            let found = store.conversation(&Owner::first(), "c").await.unwrap().unwrap();
            store.close().await;
            (stored, found)
        });
        let stored: Vec<_> = stored.into_iter().map(|message| message.message).collect();
        prop_assert_eq!(stored, messages);
        prop_assert_eq!(found.title, title);
    }
}
