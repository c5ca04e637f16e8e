#!/usr/bin/env bash
# Installs what the tests need and runs them all: formatting, lints, documentation, tests.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
  echo "carom needs Rust 1.95 or newer: https://rustup.rs" >&2
  exit 1
fi

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo clippy --package carom --no-default-features --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
cargo test --workspace --locked

# Reports in a real browser; screenshots are kept in target/browser.
for need in chromium npm; do
  if ! command -v "$need" >/dev/null; then
    apt-get update -q && apt-get install -qy "$need"
  fi
done

cd tests/browser
npm ci --silent
npm test --silent
