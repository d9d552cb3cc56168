#!/usr/bin/env bash
# Runs the release binary against real parts: a language model behind llama.cpp, a web site on a host of its own, the
# official OpenAI client, curl, and Chromium.
#
#   tests/real/run.sh [PYTEST ARGUMENTS]
#
# Needs root (for the site's network namespace) and the Debian packages iproute2, curl and chromium; downloads the rest
# once, see prepare.sh. TOOLCRIB_BINARY names another binary than target/release/toolcrib. Screenshots and logs are
# left in TOOLCRIB_ARTIFACTS, when it is set.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export TOOLCRIB_BINARY=${TOOLCRIB_BINARY:-${CARGO_TARGET_DIR:-$root/target}/release/toolcrib}

[ -x "$TOOLCRIB_BINARY" ] || { echo "$TOOLCRIB_BINARY is not there: run cargo build --release" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "the site needs a network namespace: run this as root" >&2; exit 2; }
for program in ip curl chromium; do
    command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 2; }
done

# One run at a time on a machine: the site's address is one.
exec 9>"${TMPDIR:-/tmp}/toolcrib-real.lock"
flock --wait 600 9 || { echo "another run has been going on for ten minutes" >&2; exit 2; }

places=$("$here/prepare.sh")
while IFS='=' read -r name value; do
    export "$name=$value"
done <<<"$places"
export TOOLCRIB_ARTIFACTS=${TOOLCRIB_ARTIFACTS:-$(mktemp -d)}
mkdir -p "$TOOLCRIB_ARTIFACTS"
echo "artifacts: $TOOLCRIB_ARTIFACTS"

# A temporary folder of this run holds all data folders and logs; on failure it is kept among the artifacts.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
cd "$here"
"$CLIENTS/bin/python" -m pytest -p no:cacheprovider --basetemp="$TOOLCRIB_ARTIFACTS/run" -ra "${@:-suites}" 9>&-
