//! Measures computing time.

use std::time::Instant;

/// Measures the CPU time of the thread that started it, or the elapsed (wall) time if the system does not provide it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<f64>,
}

impl Stopwatch {
    /// Starts the stopwatch.
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// The seconds since the start.
    pub fn seconds(&self) -> f64 {
        match (self.cpu, cpu_seconds()) {
            (Some(start), Some(now)) => now - start,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// What a [`Stopwatch`] measures here: `CPU` or `wall`.
pub fn kind_of_time() -> &'static str {
    if cpu_seconds().is_some() { "CPU" } else { "wall" }
}

/// The CPU time of this thread, if the system provides it.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to our own `timespec`, which the call fills in.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (code == 0).then_some(time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Sleeping takes no CPU time, working does.
    #[cfg(unix)]
    #[test]
    fn only_work_counts() {
        let (watch, wall) = (Stopwatch::start(), Instant::now());
        std::thread::sleep(Duration::from_millis(60));
        let asleep = watch.seconds();
        assert!(asleep < 0.03, "{asleep} s of sleep were counted");
        let mut x = 1.0_f64;
        while watch.seconds() < 0.02 && wall.elapsed().as_secs() < 20 {
            x = std::hint::black_box(x.sin() + 1.0);
        }
        assert!(watch.seconds() >= 0.02, "work was not counted");
        assert_eq!(kind_of_time(), "CPU");
    }
}
