//! How the installation is.

pub(super) mod show;
