//! Output files, which are written completely or not at all.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use carom::lab::error::{Diagnostic, Error, Result};

/// A file to be written, at a path that was checked.
#[derive(Clone, Debug)]
pub struct Target {
    /// What the user wrote.
    path: PathBuf,
    /// The file that is replaced: where the path leads, if it is a link.
    file: PathBuf,
    /// The temporary file beside it; none for what is no regular file, such as a pipe, which is written directly.
    beside: Option<PathBuf>,
}

impl Target {
    /// Checks, before anything is computed, that a file with one of these extensions can be written to this path.
    pub fn new(path: &Path, option: &str, extensions: &[&str]) -> Result<Target> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
        if !extensions.contains(&extension.as_str()) {
            let known: Vec<String> = extensions.iter().map(|e| format!("`.{e}`")).collect();
            let what =
                if extension.is_empty() { "no extension".into() } else { format!("the extension `.{extension}`") };
            let message = format!("`{option}` cannot write `{}`: it has {what}", path.display());
            return Err(Diagnostic::new(message).with_help(format!("it writes {}", known.join(" and "))).into());
        }
        Target::any(path)
    }

    /// Checks, before anything is computed, that a file can be written to this path.
    pub fn any(path: &Path) -> Result<Target> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // What a link to a pipe says is no path.
        let known = std::fs::metadata(path);
        let is_other = known.as_ref().is_ok_and(|known| !known.is_file() && !known.is_dir());
        let file = std::fs::canonicalize(path).ok().filter(|_| !is_other);
        let file = file.unwrap_or_else(|| if is_other { path.to_path_buf() } else { end_of_links(path) });
        let name = format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let beside = (!is_other).then(|| file.with_file_name(name));
        let target = Target { path: path.to_path_buf(), file, beside };
        if path.as_os_str().is_empty() {
            return Err(target.unwritable("the name is empty"));
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(target.unwritable("it is a folder"));
        }
        match known {
            Ok(known) if !is_other && known.permissions().readonly() => {
                return Err(target.unwritable("it is read-only"));
            }
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(target.unwritable(reason(&e))),
            _ => {}
        }
        if let Some(trial) = &target.beside {
            std::fs::write(trial, b"").map_err(|e| target.unwritable(reason(&e)))?;
            let _ = std::fs::remove_file(trial);
        }
        Ok(target)
    }

    /// True if this is the file at another path.
    pub fn is_file(&self, other: &Path) -> bool {
        std::fs::canonicalize(other).is_ok_and(|other| other == self.file)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the path has this extension, in upper or lower case.
    pub fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
    }

    /// Writes a temporary file beside the target and renames it.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let Some(beside) = &self.beside else {
            let mut options = std::fs::OpenOptions::new();
            let written = options.write(true).open(&self.file).and_then(|mut file| file.write_all(bytes));
            return written.map_err(|e| self.unwritable(reason(&e)));
        };
        let written = std::fs::File::create(beside)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
            .and_then(|()| std::fs::rename(beside, &self.file));
        written.map_err(|e| {
            let _ = std::fs::remove_file(beside);
            self.unwritable(reason(&e))
        })
    }

    /// Begins a file that is written part by part.
    pub fn grow(&self) -> Result<Growing> {
        let file = match &self.beside {
            Some(beside) => File::create(beside),
            None => std::fs::OpenOptions::new().write(true).open(&self.file),
        };
        let file = file.map_err(|e| self.unwritable(reason(&e)))?;
        Ok(Growing { target: self.clone(), file: BufWriter::new(file), is_complete: false })
    }

    /// The error for a target that cannot be written.
    pub fn unwritable(&self, why: impl std::fmt::Display) -> Error {
        Diagnostic::new(format!("cannot write `{}`: {why}", self.path.display())).into()
    }
}

/// A file that is written part by part, beside its place, which it takes when it is complete.
pub struct Growing {
    target: Target,
    file: BufWriter<File>,
    is_complete: bool,
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Growing {
    /// Appends a text.
    pub fn append(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(|e| self.target.unwritable(reason(&e)))
    }

    /// Completes the file.
    pub fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| match &self.target.beside {
            Some(beside) => self.file.get_ref().sync_all().and_then(|()| std::fs::rename(beside, &self.target.file)),
            None => Ok(()),
        });
        self.is_complete = written.is_ok();
        written.map_err(|e| self.target.unwritable(reason(&e)))
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if let Some(beside) = self.target.beside.as_ref().filter(|_| !self.is_complete) {
            let _ = std::fs::remove_file(beside);
        }
    }
}

/// Where a link leads, also if there is no file yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut file = path.to_path_buf();
    // Systems follow about 40 links.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&file) else { break };
        file = file.parent().unwrap_or(Path::new("")).join(next);
    }
    file
}

fn reason(error: &std::io::Error) -> String {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    match error.kind() {
        NotFound => "there is no such folder".into(),
        NotADirectory => "its folder is a file".into(),
        PermissionDenied => "permission denied".into(),
        ReadOnlyFilesystem => "the file system is read-only".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The folder of a link, not that of the file that it leads to, may be read-only; the link stays.
    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_odd_places_refused() {
        let folder = std::env::temp_dir().join(format!("carom-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("data")).unwrap();
        let link = folder.join("link.csv");
        // A file that is not there yet, relative to the link.
        std::os::unix::fs::symlink("data/new.csv", &link).unwrap();
        Target::any(&link).unwrap().write(b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(folder.join("data/new.csv")).unwrap(), b"new");
        std::os::unix::fs::symlink("loop.csv", folder.join("loop.csv")).unwrap();
        let long = format!("{}.csv", "a".repeat(300));
        for odd in ["loop.csv", "data", "new/", long.as_str()] {
            assert!(Target::any(&folder.join(odd)).is_err(), "{odd}");
        }
        assert!(Target::any(Path::new("")).is_err());
        let mut permissions = std::fs::metadata(&link).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&link, permissions).unwrap();
        assert!(Target::any(&link).is_err(), "it is read-only");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_finished_leaves_the_older_one() {
        let folder = std::env::temp_dir().join(format!("carom-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let target = Target::new(&folder.join("a.HTML"), "--report", &["html"]).unwrap();
        assert!(target.is("html"));
        target.write(b"whole").unwrap();
        // A folder at the path of the temporary file.
        std::fs::create_dir(target.beside.as_ref().unwrap()).unwrap();
        assert!(target.write(b"half").is_err());
        assert_eq!(std::fs::read(target.path()).unwrap(), b"whole");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
