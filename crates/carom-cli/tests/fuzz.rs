//! No model, setting, restart or path makes the command panic or wait for ever: it ends within five seconds of processor time,
//! with the exit code 0, 1 or 2. See `carom_tests::fuzz`; the models that fail are kept in the folder that is told.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carom_tests::Random;
use carom_tests::fuzz::{corpus, input, random, seeds};
use carom_tests::words::{mutated, number, one_of};

/// The most processor time of a command; code that is not optimized takes about three times as long.
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 5 });
/// The most time: what waits without computing never ends. Other tests run too.
const PATIENCE: Duration = Duration::from_secs(300);

/// The files of the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("there is room");
        let mut run = Command::new(env!("CARGO_BIN_EXE_carom"));
        let first = run.args(["run", "bouncing-ball", "--json", "--until", "1"]).output().expect("it starts");
        fs::write(folder.join("first.json"), first.stdout).expect("there is room");
        Folder(folder)
    }

    fn path(&self, name: &str) -> OsString {
        self.0.join(name).into()
    }

    /// A place to write to, or one that cannot be written to.
    fn output(&self, extension: &str, random: &mut Random) -> OsString {
        match random.below(12) {
            0 => self.path("model.toml"),
            1 => self.path(&format!("missing/a.{extension}")),
            2 => self.0.clone().into(),
            3 => "/dev/null".into(),
            4 => "/dev/full".into(),
            5 => "-".into(),
            6 => "".into(),
            7 => self.not_unicode(extension),
            _ => self.path(&format!("a.{extension}")),
        }
    }

    #[cfg(unix)]
    fn not_unicode(&self, extension: &str) -> OsString {
        use std::os::unix::ffi::OsStringExt;
        let mut path = self.path("").into_vec();
        path.extend(b"\xff\xfe.");
        path.extend(extension.bytes());
        OsString::from_vec(path)
    }

    #[cfg(not(unix))]
    fn not_unicode(&self, extension: &str) -> OsString {
        self.path(&format!("ÿ.{extension}"))
    }

    /// A file to resume from: of a run, with other words, or none at all.
    fn restart(&self, random: &mut Random) -> OsString {
        match random.below(8) {
            0 => "/dev/zero".into(),
            1 => self.path("missing.json"),
            2 => self.path("model.toml"),
            3 => self.path("first.json"),
            _ => {
                let first = fs::read_to_string(self.0.join("first.json")).expect("it was written");
                let file = self.path("other.json");
                fs::write(&file, mutated(&first, random)).expect("there is room");
                file
            }
        }
    }

    /// The arguments of a command. Now and then it resumes a run of a shipped model.
    fn arguments(&self, settings: Vec<String>, random: &mut Random) -> Vec<OsString> {
        let command = one_of(random, &["run", "run", "run", "run", "derive", "check", "compare"]);
        let resumes = command == "run" && random.below(8) == 0;
        let model = if resumes { "bouncing-ball".into() } else { self.path("model.toml") };
        let mut all: Vec<OsString> = vec![command.into(), model];
        all.extend(settings.into_iter().flat_map(|setting| ["--set".into(), setting.into()]));
        let mut add = |words: &[&str]| all.extend(words.iter().map(OsString::from));
        match command {
            "derive" => add(&["--format", one_of(random, &["text", "latex", "html"])]),
            "compare" => add(&["--methods", one_of(random, &["cva", "gauss2,php", "svc+mhc"]), "--steps", "0.1,0.05"]),
            "run" => {
                for option in ["--json", "--nodes", "--diagnostics"] {
                    if random.below(4) == 0 {
                        add(&[option]);
                    }
                }
                if random.below(6) == 0 {
                    add(&["--every", number(random).trim_start_matches("60*")]);
                }
                if resumes {
                    all.extend(["--until".into(), "2".into(), "--restart".into(), self.restart(random)]);
                }
                for (option, extension) in
                    [("--out", "csv"), ("--report", "html"), ("--plot", "svg"), ("--plot", "png")]
                {
                    if random.below(12) == 0 && !all.contains(&option.into()) {
                        all.extend([option.into(), self.output(extension, random)]);
                    }
                }
            }
            _ => {}
        }
        all
    }
}

/// The processor time of a process so far; the time since it began where that is not known.
fn spent(child: &Child, began: Instant) -> Duration {
    let Ok(text) = fs::read_to_string(format!("/proc/{}/stat", child.id())) else { return began.elapsed() };
    let fields = text.rsplit(')').next().unwrap_or("").split_whitespace();
    // utime and stime, in hundredths of a second.
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Runs the command; what was wrong, if anything was.
fn trouble(arguments: &[OsString], folder: &Path) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stderr = child.stderr.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        if spent(&child, began) > LONGEST || began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Some(format!("it had not ended after {:?}", began.elapsed()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let told = reader.join().expect("it ends");
    let is_fine = matches!(status.code(), Some(0..=2)) && !told.contains("panicked");
    (!is_fine).then(|| format!("{status}: {told}"))
}

#[test]
fn no_input_makes_the_command_panic_or_wait() {
    let (folder, corpus, seeds) = (Folder::new(), corpus(), seeds(100, 100));
    let mut wrong: Vec<u64> = Vec::new();
    for seed in seeds.clone() {
        let mut random = random(seed);
        let input = input(&corpus, &mut random);
        fs::write(folder.0.join("model.toml"), &input.text).expect("there is room");
        let arguments = folder.arguments(input.settings, &mut random);
        if let Some(why) = trouble(&arguments, &folder.0) {
            fs::write(folder.0.join(format!("{seed}.toml")), &input.text).expect("there is room");
            let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
            eprintln!("seed {seed}: carom {}\n{why}", words.join(" "));
            wrong.push(seed);
        }
    }
    let count = seeds.end - seeds.start;
    assert!(wrong.is_empty(), "{} of {count} inputs, kept in {}: {wrong:?}", wrong.len(), folder.0.display());
    fs::remove_dir_all(folder.0).expect("it is ours");
}
