//! carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.

pub mod derive;
pub mod expr;
pub mod system;
