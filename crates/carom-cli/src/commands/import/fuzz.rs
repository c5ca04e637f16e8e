//! No file makes the import panic or wait for ever, and the model that it writes is a model. See `carom_tests::fuzz`.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use carom::Model;
use carom_tests::fuzz::{random, robot_input, seeds};

/// No file may take longer, in seconds. It is generous: other tests run at the same time.
const LONGEST: u64 = 30;

/// What is wrong with a model if its writer is wrong; other mistakes are those of the file.
const OF_THE_WRITER: [&str; 3] = ["not valid TOML", "is not a name", "used twice"];

/// What became of a file.
enum Fate {
    Refused,
    /// The model that was made is refused, with this error.
    NoModel(String),
    Imported,
}

fn fate(text: &str, is_floating: bool) -> Fate {
    let Ok(model) = super::model("robot.urdf", text, is_floating) else { return Fate::Refused };
    match Model::from_text("model.toml", &model, &[]) {
        // A start outside of limits or off a loop is a mistake of the file.
        Ok(_) => Fate::Imported,
        Err(error) if OF_THE_WRITER.iter().any(|mistake| error.to_string().contains(mistake)) => {
            Fate::NoModel(format!("{error}\n{model}"))
        }
        Err(_) => Fate::Refused,
    }
}

#[test]
fn no_robot_makes_it_panic() {
    let (send, told) = channel();
    let seeds = seeds(500, 1);
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let worker = std::thread::spawn(move || {
        for seed in seeds {
            let mut random = random(seed);
            let text = robot_input(&mut random);
            let fate = fate(&text, text.contains("<robot") && random.below(2) == 0);
            if send.send((seed, text, fate)).is_err() {
                return;
            }
        }
    });
    let (mut last, mut imported, mut refused, mut wrong) = (first.saturating_sub(1), 0, 0, Vec::new());
    loop {
        match told.recv_timeout(Duration::from_secs(LONGEST)) {
            Ok((seed, _, Fate::Imported)) => (last, imported) = (seed, imported + 1),
            Ok((seed, _, Fate::Refused)) => (last, refused) = (seed, refused + 1),
            Ok((seed, text, Fate::NoModel(error))) => {
                last = seed;
                wrong.push(format!("seed {seed}: the model is refused: {error}\nfrom\n{text}"));
            }
            Err(RecvTimeoutError::Timeout) => panic!("seed {} takes more than {LONGEST} s", last + 1),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(worker.join().is_ok(), "seed {} makes it panic:\n{}", last + 1, robot_input(&mut random(last + 1)));
    assert!(wrong.is_empty(), "{} of {count} robots:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n\n"));
    println!("{imported} of {count} robots are imported, {refused} refused");
    // Robots of which nothing can move are refused too.
    assert!(6 * imported > count || count < 100, "only {imported} of {count} robots are imported");
}
