//! The models that ship with carom. A new one is a file in `models/` and a line here.

/// A shipped model.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The name in `carom run`.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The document from which it comes.
    pub origin: &'static str,
    /// The text of the model.
    pub text: &'static str,
}

macro_rules! examples {
    ($($name:literal, $about:literal, $origin:literal;)*) => {
        &[$(Example {
            name: $name,
            about: $about,
            origin: $origin,
            text: include_str!(concat!("../../models/", $name, ".toml")),
        }),*]
    };
}

/// All shipped models.
pub const EXAMPLES: &[Example] = examples! {
    "point-mass", "a point mass that bounces on a floor", "[NOTES]";
    "pendulum", "a pendulum that hits a wall at its lowest point", "[NOTES]";
    "driven-double-pendulum", "a double pendulum whose first link is driven", "[NOTES]";
    "double-pendulum", "a double pendulum beside a wall", "[BEA]";
    "cart-pendulum", "a pendulum on a cart that falls and bounces", "[DLM]";
    "bar", "a rigid bar that bounces on its ends", "[GP]";
    "wavy-floor", "a particle over a wavy floor", "[GP]";
    "constrained-bar", "a rigid bar whose centre slides along a curve", "[GP]";
    "circle-pendulum", "a pendulum beside a wall, on the circle", "[GP]";
    "circle-xy", "a point on a circle, in Cartesian coordinates", "[TPC]";
    "circle-polar", "a point on a circle, in polar coordinates", "[TPC]";
    "line-xy", "a point on a line, in Cartesian coordinates", "[TPC]";
    "line-polar", "a point on a line, in polar coordinates", "[TPC]";
    "four-bar", "a four-bar linkage whose rocker hits a stop", "";
    "squeezer", "Andrews' squeezer mechanism: seven bodies, three closed loops", "";
    "chain-3", "a chain of three links that swings against a wall", "";
    "chain-5", "a chain of five links that swings against a wall", "";
    "chain-10", "a chain of ten links that swings against a wall", "";
    "bouncing-ball", "a ball that loses a tenth of its speed at each bounce", "";
    "floor-and-ceiling", "a ball between a floor and a ceiling", "";
    "newtons-cradle", "five balls that hang side by side and touch", "";
    "galperin", "two blocks and a wall that count the digits of pi", "";
    "ball-row", "ten balls above each other over a floor", "";
    "elliptic-billiard", "a billiard ball on an elliptic table", "";
    "sinai-billiard", "a billiard ball on a square table with a round post", "";
    "jack-in-a-box", "a jack in a shaken box: sixteen walls", "";
    "impact-oscillator", "a driven oscillator that just reaches a wall", "";
    "vibrating-table", "a ball that bounces on a vibrating table", "";
    "braked-pendulum", "a pendulum with a brake that falls onto a stop", "";
    "rimless-wheel", "a rimless wheel that falls onto an icy slope", "";
    "square", "a rigid square that falls onto a floor", "";
    "hopper", "a body on a spring leg that hops and comes down", "";
    "triple-pendulum", "three bars that swing against a wall", "";
    "peg-pendulum", "a pendulum whose string has caught on a peg", "";
    "galton-board", "a ball that falls through 51 pins into a bin", "";
    "floating-ball", "a ball without gravity whose end depends on its start", "";
    "two-balls", "two balls that exchange their velocities", "";
    "three-balls", "a ball that hits two at one instant", "";
    "robot-arm", "a planar arm of three bodies whose hand comes down on a table", "";
    "racket", "a tennis racket in free flight that falls onto a floor", "";
    "top", "a heavy top that precesses and nutates", "";
    "crank-rocker", "a four-bar linkage made of bodies, with a spring", "";
    "hanging-chain", "a chain of n links in space, by repetition", "";
    "marionette", "a string marionette of 30 coordinates, moved by a score", "[TPC]";
    "marionette-drop", "the marionette, without strings, drops onto a floor", "";
    "gyroscope", "a gyroscope that hangs from a string by one end of its axle", "";
    "stewart", "a pendulum under a platform that six legs shake: closed loops in space", "";
    "scissor-lift", "a scissor lift with n stages, by repetition", "";
    "walker", "a walker with knees that steps onto ice", "";
    "double-integrator", "control: a block from rest to rest", "";
    "pendulum-swingup", "control: a swing-up with a weak motor", "";
    "fastest-swing", "control: a swing-up in the least time", "";
    "cart-pole", "control: a cart swings its pole up", "";
    "strike", "control: a double pendulum strikes the wall once", "";
    "one-cushion", "control: a billiard shot off one cushion", "";
    "two-cushions", "control: a billiard shot off two cushions", "";
    "hop", "control: a hopper's periodic hop", "";
    "compass-gait", "control: a step of a compass biped", "";
    "puppet", "control: an arm on a string raises its hand", "";
};

/// The shipped model with this name.
pub fn find(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name)
}
