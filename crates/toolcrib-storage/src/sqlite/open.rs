//! Opening a data folder: the folder, its lock, the database and its connections.
//!
//! Each step that can fail has an error that names the place and says what to do. A database that this program must
//! not touch is left as it was found.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use super::key_memory::KeyMemory;
use super::labels::ProtectedMemory;
use super::lock::{FolderLock, LockFailure};
use super::migrate::MigrateFailure;
use super::problem::{code, primary_code};
use super::writer::Writer;
use super::{Durability, Inner, OpenOptions, migrate, recover};

/// How long a lock may seem to be held by a process that is only being started.
const SHARED_LOCK: std::time::Duration = std::time::Duration::from_millis(100);
/// The database's file in the data folder.
pub(super) const DATABASE_FILE: &str = "toolcrib.sqlite3";

/// The size to which the log of recent writes is cut back, in bytes.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// A store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder does not exist and cannot be made.
    #[error(
        "creating the data folder {}: {cause}; choose a folder that this user may create",
        folder.display()
    )]
    Create {
        /// The folder.
        folder: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },

    /// A file in the folder cannot be written.
    #[error(
        "writing in the data folder {}: {cause}; make the folder and its files writable for this user, \
         or choose another folder",
        folder.display()
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What the operating system or the database says.
        cause: String,
    },

    /// Another process has the folder open.
    #[error(
        "opening the data folder {}: it is in use by {}; stop that process, or choose another folder",
        folder.display(), holder.as_deref().unwrap_or("another process of this program")
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// How the other process described itself.
        holder: Option<String>,
    },

    /// The file system lacks what the database needs.
    #[error(
        "opening the data folder {}: its file system {lack}; choose a folder on a local disk",
        folder.display()
    )]
    FileSystem {
        /// The folder.
        folder: PathBuf,
        /// What it lacks.
        lack: String,
    },

    /// The file is not a database, or a damaged one.
    #[error(
        "opening the database {}: the file is damaged or not a database ({cause}); restore it from a backup, or \
         move it away to begin anew",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What the database says.
        cause: String,
    },

    /// The file is the database of another program.
    #[error(
        "opening the database {}: it belongs to another program; move it away, or choose another folder",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
    },

    /// A later version of this program has changed the database.
    #[error(
        "opening the database {}: it has schema version {found}, and this program knows versions up to {known}; \
         update the program, or choose another folder",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version of the database.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },

    /// Another program keeps the database locked.
    #[error(
        "opening the database {}: it is locked by another program; close whatever else has the file open",
        file.display()
    )]
    Locked {
        /// The file.
        file: PathBuf,
    },

    /// There is no room for the database.
    #[error("opening the database {}: the disk is full; make room and start again", file.display())]
    DiskFull {
        /// The file.
        file: PathBuf,
    },

    /// Anything else.
    #[error("opening the database {}: {cause}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What the database says.
        cause: String,
    },
}

/// A process that starts another one shares its lock with it for a moment, even when it lets go meanwhile: a lock that
/// is held is looked at once more.
async fn take_lock(folder: &Path) -> Result<FolderLock, LockFailure> {
    match FolderLock::take(folder) {
        Err(LockFailure::Held(_)) => {
            tokio::time::sleep(SHARED_LOCK).await;
            FolderLock::take(folder)
        }
        taken => taken,
    }
}

/// Opens the store of a folder.
pub(super) async fn open(folder: &Path, options: &OpenOptions) -> Result<Inner, OpenError> {
    create_folder(folder).map_err(|cause| OpenError::Create { folder: folder.to_owned(), cause })?;
    let lock = take_lock(folder).await.map_err(|failure| lock_error(folder, failure))?;
    let file = folder.join(DATABASE_FILE);
    create_file(&file).map_err(|cause| not_writable(&file, &cause))?;

    let connect = connect_options(&file, options);
    let mut connection = connect.connect().await.map_err(|error| database_error(&file, &error))?;
    prepare(&mut connection, &file, options).await?;
    let protected = Arc::new(ProtectedMemory::default());
    let recovered = recover::close_interrupted(&mut connection, options.now, &protected)
        .await
        .map_err(|error| database_error(&file, &error))?;
    protected.load(&mut connection).await.map_err(|error| database_error(&file, &error))?;
    limit_size(&mut connection, options).await.map_err(|error| database_error(&file, &error))?;

    let readers = SqlitePoolOptions::new()
        .max_connections(options.readers.max(1))
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(connect.pragma("query_only", "1"))
        .await
        .map_err(|error| database_error(&file, &error))?;
    let writer = Writer::start(connection, lock);
    Ok(Inner { readers, writer, keys: KeyMemory::default(), protected, recovered, folder: folder.to_owned() })
}

fn connect_options(file: &Path, options: &OpenOptions) -> SqliteConnectOptions {
    let synchronous = match options.durability {
        Durability::PowerLoss => SqliteSynchronous::Full,
        Durability::ProcessCrash => SqliteSynchronous::Normal,
    };
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(options.busy_timeout)
        .synchronous(synchronous)
        // On Apple's systems the disk is only asked to keep what it has with this.
        .pragma("fullfsync", "1")
        .disable_statement_logging()
}

/// Brings the database to its mode and schema.
async fn prepare(
    connection: &mut SqliteConnection,
    file: &Path,
    options: &OpenOptions,
) -> Result<(), OpenError> {
    migrate::check(connection).await.map_err(|failure| migrate_error(file, failure))?;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode = WAL")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| database_error(file, &error))?;
    if mode != "wal" {
        let lack = format!("does not allow a write-ahead log (the database stays in mode `{mode}`)");
        return Err(OpenError::FileSystem { folder: folder_of(file), lack });
    }
    sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA journal_size_limit = {LOG_BYTES}")))
        .execute(&mut *connection)
        .await
        .map_err(|error| database_error(file, &error))?;
    migrate::run(connection, options).await.map_err(|failure| migrate_error(file, failure))
}

async fn limit_size(connection: &mut SqliteConnection, options: &OpenOptions) -> Result<(), sqlx::Error> {
    let Some(bytes) = options.size_limit else { return Ok(()) };
    let page: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut *connection).await?;
    let pages = bytes / u64::try_from(page).unwrap_or(4096).max(1);
    // SQLite never sets the limit below the size that the database already has.
    let limit = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {}", pages.clamp(1, 4_294_967_294)));
    sqlx::query(limit).execute(connection).await?;
    Ok(())
}

/// Makes the folder, readable for nobody else; one that exists keeps its permissions.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes the database's file, readable for nobody else; `SQLite` gives its companions the same permissions.
fn create_file(file: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(file).to_owned()
}

fn not_writable(file: &Path, cause: &io::Error) -> OpenError {
    if cause.kind() == io::ErrorKind::StorageFull {
        return OpenError::DiskFull { file: file.to_owned() };
    }
    OpenError::NotWritable { folder: folder_of(file), cause: cause.to_string() }
}

fn lock_error(folder: &Path, failure: LockFailure) -> OpenError {
    match failure {
        LockFailure::Held(holder) => OpenError::InUse { folder: folder.to_owned(), holder },
        LockFailure::File(cause) => not_writable(&folder.join(DATABASE_FILE), &cause),
        LockFailure::Unsupported(cause) => OpenError::FileSystem {
            folder: folder.to_owned(),
            lack: format!("does not allow a file to be locked ({cause})"),
        },
    }
}

fn migrate_error(file: &Path, failure: MigrateFailure) -> OpenError {
    match failure {
        MigrateFailure::Newer { found, known } => OpenError::Newer { file: file.to_owned(), found, known },
        MigrateFailure::Foreign => OpenError::Foreign { file: file.to_owned() },
        MigrateFailure::Database(error) => database_error(file, &error),
    }
}

fn database_error(file: &Path, error: &sqlx::Error) -> OpenError {
    let owned = file.to_owned();
    match primary_code(error) {
        Some(code::NOT_A_DATABASE | code::CORRUPT) => {
            OpenError::Damaged { file: owned, cause: error.to_string() }
        }
        Some(code::BUSY | code::LOCKED) => OpenError::Locked { file: owned },
        Some(code::FULL) => OpenError::DiskFull { file: owned },
        Some(code::READ_ONLY | code::CANNOT_OPEN) => {
            OpenError::NotWritable { folder: folder_of(file), cause: error.to_string() }
        }
        _ => OpenError::Database { file: owned, cause: error.to_string() },
    }
}
