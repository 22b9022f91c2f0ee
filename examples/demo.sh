#!/bin/sh
# Start a server, ask it for one map in two formats and for the image, and stop it again.
set -eu
BIN="${BIN:-.venv/bin}"
OUT=demo
mkdir -p "$OUT"
command -v curl > /dev/null || { echo "the demo shows curl, which is not installed"; exit 1; }

PORT="${PORT:-$("$BIN/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}"
URL="http://127.0.0.1:$PORT"
# Where `make serve` listens: what is printed is for there, as the demo's own server stops with it.
SERVE="http://127.0.0.1:8000"
"$BIN/sensmap" serve --port "$PORT" 2> "$OUT/server.log" &
SERVER=$!
trap 'kill "$SERVER" 2> /dev/null || true' EXIT

tries=0
until curl --silent --fail --output /dev/null "$URL/readyz"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$SERVER" 2> /dev/null; then
        echo "the server did not come up; its log:"
        cat "$OUT/server.log"
        exit 1
    fi
    sleep 0.2
done

# Print a command so that it can be copied, then run it: `show PATH OPTIONS...`.
show() {
    path=$1
    shift
    line="curl"
    for word in "$SERVE$path" "$@"; do
        case "$word" in
            *[!A-Za-z0-9_./:=-]*) line="$line '$word'" ;;
            *) line="$line $word" ;;
        esac
    done
    printf '\n$ %s\n' "$line"
    curl --silent --show-error --fail "$URL$path" "$@"
}

BODY='{"wrt": "radius", "params": {"radius": 0.7}, "colorbar": true}'
show "/v1/renderers/sphere/map" -d "$BODY" -o "$OUT/map.png"
show "/v1/renderers/sphere/map?format=npy" -d "$BODY" -o "$OUT/map.npy"
show "/v1/renderers/sphere/image.png?radius=0.7" -o "$OUT/image.png"

echo
"$BIN/python" - "$OUT" << 'PYTHON'
import sys

import numpy as np

values = np.load(sys.argv[1] + "/map.npy")
print(f"{sys.argv[1]}/map.npy: shape {values.shape}, {values.dtype}, {values.min():.4g} to {values.max():.4g}")
PYTHON
echo "$OUT/map.png and $OUT/image.png are the pictures."
echo
echo "The commands work as printed while 'make serve' runs, which has the dashboard at $SERVE/ ."
echo "(The demo asked a server of its own at $URL, which stops now; its log is $OUT/server.log.)"
echo "The command line is $BIN/sensmap, or sensmap after '. $BIN/activate'."
