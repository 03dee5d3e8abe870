#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# delay.sh ROOT ROUND_TRIP [--relay FILE]: the network of a cluster has the delay and the rate that
# were asked for, as the program ROUND_TRIP measures them. Without sch_netem a relay makes them, and
# without a relay there is no delay. scripts/cluster --check of ROOT says so, and so does the
# summary of scripts/test if tests ran there.
set -u
root=$1
round_trip=$2
shift 2
relay=("$@")
prints=$(cd "$(dirname "$0")" && pwd)/prints.sh || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
expect() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] && return
  printf 'FAILED: %s\nfound:    %s\nexpected: %s\n' "$1" "$2" "$3"
  failed=1
}

# --- the summary, with a stand-in for scripts/cluster

eval "$(sed -n '/^why_no_cluster() {/,/^}/p; /^cluster_summary() {/,/^}/p' "$root/scripts/test")"
mkdir "$folder/scripts"
cd "$folder" || exit 2
cluster() { printf '#!/bin/sh\n%s\n' "$1" > scripts/cluster && chmod +x scripts/cluster; }
cat > log << 'END'
 1/6 Test   #7: cluster/info/openmpi/2x1 ...............   Passed    1.01 sec
 2/6 Test   #8: cluster/sent_bytes/mpich/4x2 ...........   Passed    1.02 sec
 3/6 Test  #18: cluster/algorithms/openmpi/4x2 .........***Failed    2.02 sec
 4/6 Test  #19: cluster/arguments ......................   Passed    0.10 sec
 5/6 Test  #20: spmd_groups/openmpi/3 ..................   Passed    0.10 sec
 6/6 Test  #21: cluster/groups/mpich/4x1 ...............***Skipped   0.10 sec
END
cluster 'echo "cluster: this kernel lacks sch_netem" >&2'
expect 'summary without delay' "$(cluster_summary log | tail -n 1)" \
  '3 tests on a cluster ran without its delay: this kernel lacks sch_netem'
cluster 'echo "cluster: this kernel lacks sch_netem, so a relay delays packets by 100us" >&2'
expect 'summary with a relay' "$(cluster_summary log | tail -n 1)" \
  '3 tests on a cluster ran with a relay as its network: this kernel lacks sch_netem, so a relay delays packets by 100us'
cluster 'exit 0'
expect 'summary with delay' "$(cluster_summary log | tail -n 1)" '1 tests on a cluster skipped: '
cluster 'echo "cluster: mpirun was not found" >&2; exit 77'
grep -v '/4x2\|/2x1' log > skipped
expect 'summary without a cluster' "$(cluster_summary skipped)" '1 tests on a cluster skipped: mpirun was not found'

# --- scripts/cluster, with stand-ins for tc and for the relay

mpi=openmpi
"$root/scripts/cluster" --quiet --check > reason 2>&1 || { mpi=mpich && "$root/scripts/cluster" --mpi mpich --quiet --check > reason 2>&1; } || {
  cat reason
  [ $failed = 0 ] && exit 77
  exit 1
}
tc=$(PATH=$PATH:/usr/sbin:/sbin command -v tc)
netem() { # STATUS: what tc ends with for netem
  printf '#!/bin/sh\ncase "$*" in *netem*|"qdisc del dev lo root") exit %s ;; esac\nexec %s "$@"\n' "$1" "$tc" > tc && chmod +x tc
}
fake_relay() { printf '#!/bin/sh\n%s\n' "$1" > relay && chmod +x relay; }
checked() { PATH="$folder:$PATH" "$root/scripts/cluster" --mpi $mpi --relay "$folder/relay" --check "$@" 2>&1; }
netem 1
fake_relay 'exit 0'
expect 'check with a relay' "$(checked)" \
  'cluster: this kernel lacks sch_netem, so a relay delays packets by 100us; the rate is 1gbit'
expect 'quiet check with a relay' "$(checked --quiet)" ''
expect 'check without netem and delay' "$(checked --delay 0)" ''
no_delay='packets are not delayed by 100us; the rate is 1gbit'
expect 'check of the kernel without netem' "$(checked --network kernel)" "cluster: this kernel lacks sch_netem, so $no_delay"
expect 'quiet check of the kernel without netem' "$(checked --network kernel --quiet)" ''
fake_relay 'echo "/dev/net/tun: No such file or directory" >&2; exit 1'
why='the relay cannot run (/dev/net/tun: No such file or directory)'
expect 'check with neither' "$(checked)" "cluster: this kernel lacks sch_netem and $why, so $no_delay"
expect 'quiet check with neither' "$(checked --quiet)" ''
expect 'check of a relay that cannot run' "$(checked --network relay || echo "ended with $?")" "cluster: $why
ended with 77"
netem 0
expect 'check with netem' "$(checked)" ''
rm tc

# --- a network

note=$("$root/scripts/cluster" --mpi $mpi "${relay[@]}" --check 2>&1)
[[ $note != *'not delayed'* ]] || { # this machine has neither
  echo "$note"
  [ $failed = 0 ] && exit 77
  exit 1
}
measure() { # DELAY RATE MICROSECONDS MBIT
  "$prints" 'round_trip: passed' -- "$root/scripts/cluster" --mpi $mpi "${relay[@]}" --nodes 2 --ranks-per-node 1 \
    --delay "$1" --rate "$2" -- "$round_trip" "$3" "$4" || failed=1
}
measure 100us 1gbit 100 1000
measure 2ms 400mbit 2000 400
exit $failed
