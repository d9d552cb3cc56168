//! The admin API: everything that the web page and the command line do.

pub(crate) mod v1;
