#!/usr/bin/env bash
# The instructions of one run of W1, W2 and W3, which do not depend on how busy the machine is. Valgrind knows no AVX-512, so these
# are the counts of the code with AVX2. Needs valgrind.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --profile profiling --locked --quiet --package carom-bench --example counts
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
for case in $(target/profiling/examples/counts); do
  CAROM_COMPILER=avx2 valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*counted*' \
    --callgrind-out-file="$room/out" target/profiling/examples/counts "$case" > /dev/null 2> "$room/log"
  awk -v name="$case" '/Collected/ { printf "%-24s %10d instructions\n", name, $NF }' "$room/log"
done
