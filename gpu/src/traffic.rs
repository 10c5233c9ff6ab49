//! What moved between host and device, counted since the device was opened.

use std::fmt;

/// Moves of arrays, and what made them needless.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Arrays, or stretches of them, that were brought to the device.
    pub uploads: u64,
    /// Their bytes.
    pub upload_bytes: u64,
    /// Inputs of launches that were on the device already.
    pub found: u64,
    /// Bytes of them.
    pub found_bytes: u64,
    /// Results that stayed on the device when they were made.
    pub left: u64,
    /// Their bytes.
    pub left_bytes: u64,
    /// Arrays that were brought to the host.
    pub downloads: u64,
    /// Their bytes.
    pub download_bytes: u64,
    /// Pieces of work that the device was given.
    pub submissions: u64,
    /// Copies that had to make room for others.
    pub dropped: u64,
    /// Bytes of the copies that are kept now.
    pub held_bytes: u64,
    /// The most that there may be of them.
    pub most_bytes: u64,
}

impl Traffic {
    /// Another array was brought to the device.
    pub(crate) fn up(&mut self, bytes: usize) {
        self.uploads += 1;
        self.upload_bytes += bytes as u64;
    }

    /// Another input was there.
    pub(crate) fn found(&mut self, bytes: usize) {
        self.found += 1;
        self.found_bytes += bytes as u64;
    }

    /// Another result stayed.
    pub(crate) fn left(&mut self, bytes: usize) {
        self.left += 1;
        self.left_bytes += bytes as u64;
    }

    /// Another array was brought to the host.
    pub(crate) fn down(&mut self, bytes: usize) {
        self.downloads += 1;
        self.download_bytes += bytes as u64;
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "device: {} uploads ({} bytes), {} inputs found there ({} bytes), {} results left there ({} bytes), {} \
             downloads ({} bytes), {} submissions; {} of {} bytes hold copies, {} were dropped for room",
            self.uploads,
            self.upload_bytes,
            self.found,
            self.found_bytes,
            self.left,
            self.left_bytes,
            self.downloads,
            self.download_bytes,
            self.submissions,
            self.held_bytes,
            self.most_bytes,
            self.dropped
        )
    }
}
