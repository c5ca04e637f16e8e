#!/usr/bin/env bash
# Makes the pictures of the README and of the model format, and in target/gallery the report of every shipped model and the figures of the papers.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked --quiet
carom=target/release/carom
"$carom" run double-pendulum --plot docs/double-pendulum.svg
"$carom" run gyroscope --until 1 --animate docs/gyroscope.svg

mkdir -p target/gallery
"$carom" examples | while read -r name _; do
  # What cannot be run says so.
  "$carom" run "$name" --report "target/gallery/$name.html" --animate "target/gallery/$name.gif" >/dev/null || true
done
"$carom" paper all --report target/gallery/papers
