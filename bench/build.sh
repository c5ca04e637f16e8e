#!/usr/bin/env bash
# The CPU seconds of a cold release build of the command, by crate, and the size of the binary.
# Arguments go to `cargo build`: bench/build.sh --no-default-features
set -euo pipefail
cd "$(dirname "$0")/.."

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cat > "$room/rustc" <<'WRAPPER'
#!/usr/bin/env bash
# Runs the compiler and notes the crate and its seconds.
name=other
previous=
for argument in "$@"; do
  if [ "$previous" = --crate-name ]; then name=$argument; fi
  previous=$argument
done
TIMEFORMAT="%U %S $name"
{ time "$@" 2>&3; } 3>&2 2>> "$CAROM_BUILD_LOG"
WRAPPER
chmod +x "$room/rustc"

TIMEFORMAT="%U %S"
export CAROM_BUILD_LOG="$room/log" RUSTC_WRAPPER="$room/rustc"
all=$({ time cargo build --release --locked --quiet --package carom-cli --target-dir "$room/target" "$@" 2>&3; } 3>&2 2>&1)

echo "CPU seconds by crate:"
awk '{ seconds[$3] += $1 + $2 } END { for (name in seconds) printf "%8.1f  %s\n", seconds[name], name }' "$room/log" |
  sort -rn | head -40
awk '{ printf "%8.1f  in all, with build scripts and cargo\n", $1 + $2 }' <<< "$all"
awk -v bytes="$(stat -c %s "$room/target/release/carom")" 'BEGIN { printf "%8.1f  MB, the binary\n", bytes / 1e6 }'
