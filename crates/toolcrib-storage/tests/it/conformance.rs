//! The suite that every backend must pass, on `SQLite`.

use std::sync::Arc;

use toolcrib_storage::conformance::CASES;

use crate::folder::Folder;

#[tokio::test]
async fn sqlite_conforms() {
    for case in CASES {
        let folder = Folder::new();
        let store = Arc::new(folder.open().await);
        let outcome = tokio::spawn((case.run)(store)).await;
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => panic!("{}: {error}", case.name),
            Err(panicked) => panic!("{}: {panicked}", case.name),
        }
    }
}
