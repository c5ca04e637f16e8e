//! `--plot`, `--animate`, `--report`: what is written, and what is refused without writing anything.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// An empty folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn carom(folder: &PathBuf, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(arguments).current_dir(folder).output().unwrap()
}

fn files(folder: &PathBuf) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Exit code 2, these words, and nothing written.
fn is_refused(name: &str, arguments: &[&str], words: &[&str]) {
    let folder = folder(name);
    let output = carom(&folder, arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    words.iter().for_each(|word| assert!(error.contains(word), "`{word}` is not in\n{error}"));
    assert_eq!(files(&folder), Vec::<String>::new());
}

#[test]
fn a_run_is_plotted_animated_and_reported() {
    let folder = folder("all");
    let files_wanted = ["--plot", "a.svg", "--animate", "a.gif", "--report", "a.html"];
    let paper = ["run", "double-pendulum", "--method", "cva", "--step", "0.058"];
    let output = carom(&folder, &[&paper, &files_wanted[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(&folder), ["a.gif", "a.html", "a.svg"]);
    let svg = fs::read_to_string(folder.join("a.svg")).unwrap();
    for word in ["coordinates", "phase portrait", "paths of points", "energy", "gap of each wall", "λ", "−D₃L_d", "θ₁"]
    {
        assert!(svg.contains(word), "`{word}` is missing");
    }
    assert_eq!(svg.matches("stroke-dasharray=\"3 3\"").count(), 15, "five impacts in three plots over the time");
    let gif = fs::read(folder.join("a.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a"));
    let html = fs::read_to_string(folder.join("a.html")).unwrap();
    for word in ["--method cva --step 0.058 --plot a.svg", "role=\"math\"", "left wall", "cva, step 0.058", "8.580e-1"]
    {
        assert!(html.contains(word), "`{word}` is missing");
    }
    assert!(!html.contains("http://") || html.matches("http://").count() == html.matches("http://www.w3.org/").count());
}

/// The PNG has text on any machine: the title is dark on white, in the strip where nothing else is.
#[test]
fn a_png_has_text_and_a_dark_one_a_dark_ground() {
    let folder = folder("png");
    for (name, dark) in [("light.png", None), ("dark.png", Some("--dark"))] {
        let arguments: Vec<&str> = ["run", "pendulum", "--plot", name].into_iter().chain(dark).collect();
        assert!(carom(&folder, &arguments).status.success());
    }
    let [light, dark] = ["light.png", "dark.png"].map(|name| {
        let decoder = png::Decoder::new(std::io::Cursor::new(fs::read(folder.join(name)).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let row = info.width as usize * 4;
        let title = pixels[20 * row..72 * row].chunks(4).filter(|p| p[0] != pixels[0]).count();
        (pixels[0], title)
    });
    assert_eq!((light.0, dark.0), (255, 0x16));
    assert!(light.1 > 300 && dark.1 > 300, "{} and {} pixels of text", light.1, dark.1);
}

#[test]
fn the_gif_has_a_picture_for_each_twenty_fifth_of_a_second() {
    let folder = folder("gif");
    assert!(carom(&folder, &["run", "pendulum", "--animate", "a.gif"]).status.success());
    let mut decoder = gif::DecodeOptions::new().read_info(fs::File::open(folder.join("a.gif")).unwrap()).unwrap();
    let (mut frames, mut changed) = (0, 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        frames += 1;
        changed += usize::from(frame.width > 1);
    }
    assert_eq!(frames, 125, "five seconds at 25 pictures a second");
    assert!(changed > 120, "{changed} pictures differ from those before them");
}

/// The clock in the upper left corner is different in each picture.
#[test]
fn the_gif_carries_the_time() {
    let folder = folder("clock");
    assert!(carom(&folder, &["run", "pendulum", "--animate", "a.gif"]).status.success());
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(fs::File::open(folder.join("a.gif")).unwrap()).unwrap();
    let (width, mut changes, mut frames) = (usize::from(decoder.width()), 0, 0);
    let mut screen = vec![0; 4 * width * usize::from(decoder.height())];
    let mut before = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let (left, top, wide) = (usize::from(frame.left), usize::from(frame.top), usize::from(frame.width));
        for (y, row) in frame.buffer.chunks(4 * wide).enumerate() {
            let at = 4 * ((top + y) * width + left);
            screen[at..at + row.len()].copy_from_slice(row);
        }
        let clock: Vec<u8> =
            (4..24).flat_map(|y| screen[4 * (y * width + 4)..4 * (y * width + 104)].to_vec()).collect();
        let dark = clock.chunks(4).filter(|p| p[0] < 128).count();
        assert!(dark > 60, "{dark} dark pixels where the time is written");
        changes += usize::from(clock != before);
        before = clock;
        frames += 1;
    }
    assert_eq!(changes, frames, "pictures with a time of their own");
}

#[test]
fn plots_show_what_is_chosen_and_there_may_be_several() {
    let folder = folder("show");
    let arguments =
        ["run", "double-pendulum", "--plot", "a.svg", "--show", "energy,gap", "--plot", "b.svg", "--show", "theta1"];
    let output = carom(&folder, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [a, b] = ["a.svg", "b.svg"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let titles = |svg: &str| svg.matches("font-weight=\"bold\"").count();
    assert_eq!((titles(&a), titles(&b)), (2, 1));
    assert!(a.contains(">energy<") && a.contains(">gap of each wall<") && b.contains(">θ₁<") && !b.contains(">θ₂<"));
    let both = ["run", "pendulum", "--plot", "c.svg", "--plot", "c.png", "--show", "phase", "--report", "c.html"];
    assert!(carom(&folder, &both).status.success());
    assert_eq!(files(&folder), ["a.svg", "b.svg", "c.html", "c.png", "c.svg"]);
    let html = fs::read_to_string(folder.join("c.html")).unwrap();
    assert!(html.contains("phase portrait") && !html.contains("gap of each wall"));
}

#[test]
fn what_cannot_be_shown_is_refused_before_the_run() {
    is_refused("show-unknown", &["run", "pendulum", "--plot", "a.svg", "--show", "enrgy"], &["`enrgy`", "`energy`"]);
    is_refused("show-lacking", &["run", "pendulum", "--plot", "a.svg", "--show", "outputs"], &["no outputs"]);
    is_refused("show-nothing", &["run", "pendulum", "--show", "energy"], &["`--plot F.svg`"]);
    let twice = ["run", "pendulum", "--plot", "a.svg", "--show", "energy", "--show", "gap"];
    is_refused("show-twice", &twice, &["2 times", "once for each `--plot`"]);
}

/// e = 0.9: a staircase, each step as long as its flight.
#[test]
fn the_energy_on_the_terminal_falls_in_steps() {
    let output = carom(&folder("terminal"), &["run", "bouncing-ball", "--until", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let top = text.lines().find(|line| line.contains('┤')).unwrap();
    // The first flight ends at 0.4515 of 3, column 18 of 120: a slope would leave the top at once.
    let level = top
        .split('┤')
        .nth(1)
        .unwrap()
        .chars()
        .take_while(|c| matches!(c, '⠉' | '⡏' | '⢹' | '⠋' | '⠙' | '⡇' | '⢸'))
        .count();
    assert!((9..=10).contains(&level), "the first step is {level} letters long in\n{text}");
}

#[test]
fn the_page_has_warnings_the_account_and_short_numbers() {
    let folder = folder("page");
    assert!(carom(&folder, &["run", "impact-oscillator", "--until", "20", "--report", "a.html"]).status.success());
    let html = fs::read_to_string(folder.join("a.html")).unwrap();
    for word in ["Energy account", "<th>forces</th>", "<th>unexplained</th>"] {
        assert!(html.contains(word), "`{word}` is missing");
    }
    // A step that carom found, in the title of the page and on the terminal: at most six significant digits.
    let found = carom(&folder, &["run", "four-bar", "--until", "1", "--report", "e.html"]);
    let page = fs::read_to_string(folder.join("e.html")).unwrap();
    let lead = page.split("class=\"lead\">").nth(1).unwrap().split('<').next().unwrap();
    for told in [lead, std::str::from_utf8(&found.stdout).unwrap()] {
        let step = told.split(", step ").nth(1).unwrap().split([',', '<']).next().unwrap();
        let digits = step.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
        assert!((1..=6).contains(&digits), "{step}");
    }
    // Nothing has changed the energy before the first impact, and no drive ever does: a row of zeros would say nothing.
    assert!(carom(&folder, &["run", "bouncing-ball", "--until", "0.3", "--report", "c.html"]).status.success());
    let quiet = fs::read_to_string(folder.join("c.html")).unwrap();
    assert!(!quiet.contains("Energy account") && quiet.contains("class=\"warning\">the wall `floor` was not met"));
    assert!(carom(&folder, &["run", "bouncing-ball", "--until", "2", "--report", "d.html"]).status.success());
    let bounces = fs::read_to_string(folder.join("d.html")).unwrap();
    assert!(bounces.contains("Energy account") && !bounces.contains("<th>drives and moving walls</th>"));
    assert!(bounces.contains("class=\"lead\">auto, controlled steps up to 0."), "the line below the title");
    let coarse = ["run", "double-pendulum", "--method", "cva", "--step", "0.2", "--report", "b.html"];
    assert!(carom(&folder, &coarse).status.success());
    let html = fs::read_to_string(folder.join("b.html")).unwrap();
    assert!(html.contains("class=\"warning\">the energy should be conserved, but"), "the warning is missing");
}

#[test]
fn comparisons_and_figures_are_drawn() {
    let folder = folder("others");
    let methods = ["--methods", "cva,gauss2", "--steps", "0.02,0.01", "--until", "1", "--plot", "c.svg"];
    assert!(carom(&folder, &[&["compare", "pendulum"], &methods[..]].concat()).status.success());
    let svg = fs::read_to_string(folder.join("c.svg")).unwrap();
    for word in ["convergence", "work and precision", "gauss2", "L² error"] {
        assert!(svg.contains(word), "`{word}` is missing");
    }
    assert!(carom(&folder, &["paper", "dlm-fig3", "--report", "f.html"]).status.success());
    let html = fs::read_to_string(folder.join("f.html")).unwrap();
    for word in ["The paper says", "Both runs have three impacts", "MCVAC", "carom paper dlm-fig3 --report f.html"] {
        assert!(html.contains(word), "`{word}` is missing");
    }
}

#[test]
fn unknown_extensions_name_the_known_ones() {
    is_refused("jpg", &["run", "pendulum", "--plot", "a.jpg"], &["`.jpg`", "`.svg` and `.png`"]);
    is_refused("none", &["run", "pendulum", "--report", "a"], &["no extension", "`.html`"]);
    is_refused("mp4", &["run", "pendulum", "--animate", "a.mp4"], &["`.mp4`", "`.gif`"]);
    is_refused("pdf", &["compare", "pendulum", "--methods", "cva", "--steps", "0.1", "--plot", "a.pdf"], &["`.pdf`"]);
    is_refused("paper", &["paper", "dlm-fig3", "--report", "a.txt"], &["`.txt`", "`.html`"]);
    is_refused("list", &["paper", "list", "--report", "a.html"], &["`all`"]);
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_run() {
    is_refused("folder", &["run", "pendulum", "--report", "no/such/a.html"], &["no/such/a.html", "no such folder"]);
    // It would run for an hour.
    let long = ["run", "double-pendulum", "--until", "1e8", "--step", "1e-3", "--plot", "/proc/a.svg"];
    is_refused("proc", &long, &["cannot write `/proc/a.svg`"]);
    let folder = folder("taken");
    fs::create_dir(folder.join("a.html")).unwrap();
    let output = carom(&folder, &["run", "pendulum", "--report", "a.html"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is a folder"));
}

#[test]
fn what_is_not_a_number_is_not_drawn_and_an_older_file_stays() {
    let folder = folder("nan");
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"0\"\n[initial]\nq = [1]\nv = [-1]\n\
                [outputs]\ny = \"log(x)\"\n[run]\nuntil = 2.0\nstep = 0.1\nmethod = \"svc\"\n";
    fs::write(folder.join("m.toml"), text).unwrap();
    fs::write(folder.join("a.html"), "older").unwrap();
    let output = carom(&folder, &["run", "m.toml", "--report", "a.html"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("the output `y` is not a finite number at t = 1"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("a.html")).unwrap(), "older");
    assert_eq!(files(&folder), ["a.html", "m.toml"]);
}

/// A run that fails in its first step has nothing to draw; its own error is the one that counts.
#[test]
fn a_run_that_fails_at_once_draws_nothing() {
    let folder = folder("empty");
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"x'^2/2\"\nV = \"-exp(x^8)\"\n[initial]\nq = [1.5]\nv = [9]\n\
                [run]\nuntil = 2.0\nstep = 0.5\nmethod = \"svc\"\n";
    fs::write(folder.join("m.toml"), text).unwrap();
    let output = carom(&folder, &["run", "m.toml", "--report", "a.html"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("there is nothing to draw"), "{error}");
    assert_eq!(files(&folder), ["m.toml"]);
}

/// The page shows the command that made it, also where an argument is not UTF-8.
#[cfg(unix)]
#[test]
fn a_file_name_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("bytes");
    let name = std::ffi::OsStr::from_bytes(b"a\xff.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.args(["run", "pendulum", "--step", "0.1", "--report"]).arg(name).current_dir(&folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(folder.join(name)).unwrap().contains("--report &#39;a\u{fffd}.html&#39;"));
}

/// A picture never replaces the model.
#[test]
fn the_model_is_kept() {
    let folder = folder("model");
    let text = carom::lab::catalogue::find("pendulum").unwrap().text;
    fs::write(folder.join("m.html"), text).unwrap();
    let output = carom(&folder, &["run", "m.html", "--report", "m.html"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(folder.join("m.html")).unwrap(), text);
}

/// Times and speeds of a motion in nanometres are not written as zeros.
#[test]
fn small_impacts_are_listed_with_their_digits() {
    let folder = folder("small");
    let text = "coordinates = [\"x\"]\n[lagrangian]\nT = \"1e-11*x'^2/2\"\nV = \"x^2/2\"\n[[wall]]\nphi = \"x + 5e-9\"\n\
                [initial]\nq = [1e-8]\nv = [0]\n[run]\nuntil = 1e-5\n";
    fs::write(folder.join("m.toml"), text).unwrap();
    let output = carom(&folder, &["run", "m.toml", "--report", "a.html"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // cos(ωt) = −1/2 with ω² = 1e11; v = −ω·1e-8·sin(ωt). The error is estimated, so that nine digits of t are shown.
    let html = fs::read_to_string(folder.join("a.html")).unwrap();
    assert!(html.contains("6.62305884e−6") && html.contains("−0.00273861"), "the impact is not there");
}
