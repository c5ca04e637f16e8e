//! carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.

pub mod catalogue;
pub mod error;
pub mod expr;
pub mod kernel;
pub mod model;
pub mod solve;
pub mod system;
