#!/usr/bin/env bash
# Makes the pictures of the README and of the documentation.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked --quiet
carom=target/release/carom
"$carom" run double-pendulum --plot docs/double-pendulum.svg --animate docs/double-pendulum.gif >/dev/null
ls -l docs/double-pendulum.*
