//! carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.

pub mod catalogue;
pub mod diagnostic;
pub mod discrete;
pub mod error;
pub mod expr;
pub mod flow;
pub mod impact;
pub mod kernel;
pub mod mechanics;
pub mod method;
pub mod model;
pub mod modified;
pub mod run;
pub mod solve;
pub mod system;
