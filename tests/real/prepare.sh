#!/usr/bin/env bash
# Downloads what the suites drive and talk to, into a cache outside the repository. Safe to repeat: what is there with
# the wanted versions stays. Everything is pinned with checksums.
#
#   tests/real/prepare.sh        prints three lines: CLIENTS=…, MODEL_SERVER=…, WEIGHTS=…
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TOOLCRIB_CI_CACHE:-$HOME/.cache/toolcrib-ci}
mkdir -p "$cache"

# A folder is named after the list that filled it, and marked when it is complete: another list is another folder.
uv=
environment() {
    local list=$1 name folder
    name=$(basename "$list" .txt)-$(sha256sum "$list" | cut -c1-12)
    folder=$cache/python/$name
    if [ ! -e "$folder/complete" ]; then
        rm -rf "$folder"
        mkdir -p "$cache/python"
        python3 -m venv "$folder"
        if [ "$list" = "$here/python/uv.txt" ]; then
            "$folder/bin/pip" --disable-pip-version-check install --quiet --require-hashes --requirement "$list" >&2
        else
            "$uv" pip install --quiet --python "$folder/bin/python" --require-hashes --requirement "$list" >&2
        fi
        touch "$folder/complete"
    fi
    printf '%s\n' "$folder"
}

uv=$(environment "$here/python/uv.txt")/bin/uv
clients=$(environment "$here/python/clients.txt")
model_server=$(environment "$here/llm/server.txt")
weights=$cache/llm/qwen2.5-coder-0.5b-instruct.gguf
python3 "$here/llm/weights.py" "$weights" >&2

printf 'CLIENTS=%s\nMODEL_SERVER=%s\nWEIGHTS=%s\n' "$clients" "$model_server" "$weights"
