//! `carom import robot.urdf`, `carom import model.xml`: a robot as a model, from URDF or MJCF.

#[cfg(test)]
mod fuzz;
mod mjcf;
mod names;
mod robot;
mod turn;
mod write;
mod xml;

use std::process::ExitCode;

use carom::Model;
use carom::lab::error::{Diagnostic, Result};
use carom::lab::model::{MAX_BYTES, Source};

use crate::args;
use crate::output::print;
use crate::style::warning;

/// Prints the model that a URDF or an MJCF file describes.
pub fn import(arguments: &args::Import) -> Result<ExitCode> {
    let name = arguments.file.display().to_string();
    let unreadable = |why: std::io::Error| Diagnostic::new(format!("cannot read `{name}`: {why}"));
    let size = std::fs::metadata(&arguments.file).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Diagnostic::new(format!("`{name}` is too large: more than {} MB", MAX_BYTES >> 20)).into());
    }
    let bytes = std::fs::read(&arguments.file).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| Diagnostic::new(format!("`{name}` is not text in UTF-8")))?;
    let model = model(&name, &text, arguments.floating)?;
    print(&model)?;
    if let Err(error) = Model::from_text("the model", &model, &[]) {
        anstream::eprintln!("{}", warning(&format!("the model has a mistake, as the file has: {error}")));
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of the model for the text of a URDF or an MJCF file.
fn model(name: &str, text: &str, is_floating: bool) -> Result<String> {
    let source = Source::new(name, text);
    let document = xml::parse(&source)?;
    match document.root_element().tag_name().name() {
        "mujoco" if is_floating => Err(Diagnostic::new("`--floating` is for URDF")
            .with_help("in MJCF a body that moves freely has a <freejoint/>")
            .into()),
        "mujoco" => mjcf::model(&source, &document),
        _ => write::model(&robot::read(&source, &document)?, is_floating),
    }
}

#[cfg(test)]
mod tests {
    use carom::Model;

    fn imported(urdf: &str, is_floating: bool) -> String {
        super::model("robot.urdf", urdf, is_floating).unwrap_or_else(|error| panic!("{error}"))
    }

    fn read(text: &str) -> Model {
        Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
    }

    const ARM: &str = include_str!("../../../tests/urdf/arm.urdf");

    #[test]
    fn an_arm_becomes_a_model_that_starts() {
        let text = imported(ARM, false);
        let model = read(&text);
        let names: Vec<&str> = model.system.coordinates.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["shoulder", "elbow_joint", "slide", "finger_l", "finger_r"]);
        let start = model.start().expect("it starts");
        assert_eq!(start.q, [0.0, 0.3, 0.0, 0.0, 0.01]);
        let walls: Vec<&str> = model.system.walls.iter().map(|wall| wall.name.as_str()).collect();
        assert_eq!(
            walls,
            ["shoulder low", "shoulder high", "elbow_joint low", "elbow_joint high", "slide low", "slide high"]
        );
        assert_eq!(model.system.stated_constraints().len(), 1);
        for left_out in ["friction", "effort", "mesh", "transmission", "base-link"] {
            assert!(text.contains(left_out), "nothing is said of {left_out} in\n{text}");
        }
    }

    #[test]
    fn a_floating_robot_has_a_free_root() {
        let model = read(&imported(ARM, true));
        assert_eq!(model.system.coordinates.len(), 7 + 5);
        model.start().expect("it starts");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let cases = [
            ("<robot", "not XML"),
            ("<model/>", "`robot`"),
            ("<robot name='r'/>", "no link"),
            ("<robot><link name='a'/><link name='b'/></robot>", "two roots"),
            ("<robot><link name='a'/><link name='a'/></robot>", "two links"),
            (
                "<robot><link name='a'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint></robot>",
                "unknown link `b`",
            ),
            (
                "<robot><link name='a'/><link name='b'/><joint name='j' type='screw'><parent link='a'/><child link='b'/></joint></robot>",
                "screw",
            ),
            (
                "<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
                "circle",
            ),
            ("<robot><link name='a'><inertial><mass value='heavy'/></inertial></link></robot>", "heavy"),
            (
                "<robot><link name='a'><inertial><origin xyz='1 2'/><mass value='1'/></inertial></link></robot>",
                "three numbers",
            ),
        ];
        for (text, part) in cases {
            let error = super::model("robot.urdf", text, false).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
