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
# The same laws by machine code without AVX2.
CAROM_COMPILER=sse2 cargo test --workspace --locked --test laws

# CAROM_CRANELIFT=1: the same kernels by Cranelift, which takes some minutes to build.
kernels="--package carom --locked --test kernel --test lanes --test newton --test stack"
if [ -n "${CAROM_CRANELIFT:-}" ]; then
  cargo test $kernels --features cranelift
fi

# CAROM_AARCH64=1: kernels on another processor, by an emulator. It takes some minutes.
if [ -n "${CAROM_AARCH64:-}" ]; then
  apt-get update -q && apt-get install -qy qemu-user gcc-aarch64-linux-gnu
  rustup target add aarch64-unknown-linux-gnu
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
    cargo test --target aarch64-unknown-linux-gnu $kernels
fi

# Reports in a real browser; screenshots are kept in target/browser.
for need in chromium npm; do
  if ! command -v "$need" >/dev/null; then
    apt-get update -q && apt-get install -qy "$need"
  fi
done

cd tests/browser
npm ci --silent
npm test --silent
cd ../..

# The Python package, installed in a clean environment: tests, types. The build shares its folder with those above.
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "the Python package needs Python 3.11 or newer" >&2
  exit 1
fi
venv=target/venv
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --requirement python/requirements.txt
CARGO_TARGET_DIR="$PWD/target" "$venv/bin/pip" install --quiet --no-deps . --config-settings=build-args="--profile dev --locked"
"$venv/bin/python" -m pytest --quiet python/tests
"$venv/bin/python" -m pytest --quiet --nbmake --nbmake-timeout=300 notebooks
"$venv/bin/python" -m mypy --config-file pyproject.toml python/carom
"$venv/bin/python" -m mypy.stubtest carom._carom
