#!/usr/bin/env bash
# The Slurm recipe of docs/SCALING.md on a real Slurm: Debian's packages, a controller and two nodes on this machine, as
# root. A trainer and an array of two workers meet in a directory; one worker is put back into the queue while it plays.
# In the end all games of the run must be the workers', and each of them must have played some.
#
#     scripts/check-slurm.sh [--binary target/release/hnefi]
set -euo pipefail
cd "$(dirname "$0")/.."

binary=target/release/hnefi
[ "${1:-}" != --binary ] || binary=$2
binary=$(realpath "$binary")
[ "$(id -u)" = 0 ] || { echo "expected root, which starts daemons of Slurm" >&2; exit 2; }
{ command -v slurmctld && command -v munged; } >/dev/null ||
    { apt-get update -qq && apt-get install -y -qq slurm-wlm munge >/dev/null; }

dir=$(mktemp -d /tmp/hnefi-slurm-XXXXXX)
started=()
finish() {
    scancel --user=root 2>/dev/null || true
    sleep 1
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$dir"
}
trap finish EXIT

# Two nodes with more processors than there may be, so that the recipe's jobs run at once.
host=$(hostname -s)
mkdir "$dir/state" "$dir/spool.one" "$dir/spool.two"
cat >"$dir/slurm.conf" <<END
ClusterName=trial
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=27817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MailProg=/bin/true
KillWait=5
ReturnToService=2
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=27818 CPUs=8
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=27819 CPUs=8
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$dir/slurm.conf
dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 status=none
chmod 600 "$dir/munge.key"
start() {
    "$@" >>"$dir/daemons.log" 2>&1 &
    started+=($!)
}
start munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
    --pid-file="$dir/munge.pid" --seed-file="$dir/munge.seed" --log-file="$dir/munge.log"
until [ -S "$dir/munge.socket" ]; do sleep 0.1; done
start slurmctld -D -c
start slurmd -D -N one
start slurmd -D -N two
wait_for() {
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        if [ "$SECONDS" -ge "$until" ]; then
            echo "waited in vain for $what" >&2
            tail -n 30 "$dir"/*.log "$dir"/*.out >&2 || true
            exit 1
        fi
        sleep 0.5
    done
}
two_idle() { [ "$(sinfo --noheader --Node --states=idle --format=%n 2>/dev/null | wc -l)" = 2 ]; }
wait_for 60 "both nodes" two_idle
echo "Slurm $(sinfo --version | cut -d' ' -f2): $(sinfo --noheader --format='%D nodes %t')"

# The recipe's own script, with this run, two tasks and one thread each.
run=$dir/run
sed -n '/^### Slurm/,/^```$/p' docs/SCALING.md | sed -n '/^#!/,/^```$/p' | sed '$d' >"$dir/recipe"
sed -e "s|s3://BUCKET/runs/first|file:$run|" -e 's/--array=0-99/--array=0-1/' -e 's/--cpus-per-task=8/--cpus-per-task=1/' \
    -e "s/--threads 8/--threads 1 --upload-seconds 1/" -e "s|srun hnefi|srun $binary|" "$dir/recipe" >"$dir/worker.sh"
grep -q "^srun $binary worker file:$run " "$dir/worker.sh" || { echo "the recipe has changed:" >&2; cat "$dir/recipe" >&2; exit 1; }
cd "$dir"
sed 's/generations = 3/generations = 8/' "$OLDPWD/tests/data/tiny.toml" >tiny.toml
sbatch --quiet --requeue --job-name=hnefi-trainer --output=trainer.out --wrap \
    "srun $binary train --no-table --config $dir/tiny.toml --store file:$run --no-selfplay --no-ladder"
array=$(sbatch --parsable --output=worker-%a.out worker.sh)
wait_for 120 "a generation" test -f run/metrics/000001.json
squeue --noheader --format='%.12j %.8i %.4t on %N'
# A machine is taken away: the task goes back into the queue and begins anew.
scontrol requeue "${array}_1"
wait_for 300 "the end of the run" test -f run/metrics/000008.json
over() { [ -z "$(squeue --noheader)" ]; }
wait_for 180 "the end of the jobs" over
grep -h "the run is finished" worker-*.out
"$binary" check "$run" | tail -n 3
"$binary" export "$run" --format jsonl --out "$dir/games.jsonl" >/dev/null
python3 - "$dir/games.jsonl" <<'END'
import collections, json, sys

seeds = collections.Counter(json.loads(line)["seed"] for line in open(sys.argv[1]))
print(f"{sum(seeds.values())} games of {len(seeds)} workers: {', '.join(map(str, sorted(seeds.values())))}")
# The one that was put back began with another seed.
assert 7 not in seeds and len(seeds) >= 2, "expected games of two workers or more and none of the trainer"
END
