//! The parts in a folder.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use carom::{Diagnostic, Error, Result};

/// The error for a folder that cannot be written.
pub(crate) fn unwritable(folder: &Path, why: &std::io::Error) -> Error {
    let error = Diagnostic::new(format!("cannot write to the folder `{}`: {why}", folder.display()));
    error.with_help("give another folder with `--out`").into()
}

/// Creates the folder if needed, and checks that it can be written to.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
    let probe = folder.join(format!(".probe.{}", std::process::id()));
    std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(|e| unwritable(folder, &e))
}

/// The file of a part.
pub(crate) fn path_of(folder: &Path, rows: &Range<u64>, extension: &str) -> PathBuf {
    folder.join(format!("part-{:011}-{:011}.{extension}", rows.start, rows.end))
}

/// Writes a file beside its place and renames it, so that it is there completely or not at all.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(std::io::Error::other("the path has no file name"));
    };
    // Readers of Parquet skip names that begin with a dot.
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let mut file = std::fs::File::create(&temporary)?;
    let written = write(&mut file).and_then(|()| file.flush()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    renamed?;
    forget_attempts(folder, name);
    Ok(())
}

/// Removes what killed processes have left of a part that is now complete.
fn forget_attempts(folder: &Path, name: &str) {
    let attempt = format!(".{name}.");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|other| other.starts_with(&attempt)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The error for a part that is not whole.
pub(crate) fn damaged(path: &Path, why: &str) -> Error {
    let error = Diagnostic::new(format!("`{}` is damaged: {why}", path.display()));
    error.with_help("delete this file; the same command then computes it again, and keeps the others").into()
}
