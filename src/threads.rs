//! What hosts may do from several threads: promises that the compiler keeps.
//!
//! Engines, programs, values and memory are used by any number of threads at the same time. A session is one thread's at a
//! time: calls take it mutably.

use crate::{Array, Canceller, Engine, EngineBuilder, Error, Memory, Program, Session, Value};

const fn is_sent<T: Send>() {}
const fn is_shared<T: Send + Sync>() {}

const _: () = {
    is_sent::<Session>();
    is_shared::<Canceller>();
    is_shared::<Engine>();
    is_shared::<EngineBuilder>();
    is_shared::<Program>();
    is_shared::<Memory>();
    is_shared::<Value>();
    is_shared::<Array>();
    is_shared::<Error>();
};
