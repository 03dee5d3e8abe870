#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# delay.sh ROOT: without sch_netem the network of a cluster has no delay. scripts/cluster --check of
# ROOT says so, and so does the summary of scripts/test if tests ran there.
set -u
root=$1
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
cluster 'exit 0'
expect 'summary with delay' "$(cluster_summary log | tail -n 1)" '1 tests on a cluster skipped: '
cluster 'echo "cluster: mpirun was not found" >&2; exit 77'
grep -v '/4x2\|/2x1' log > skipped
expect 'summary without a cluster' "$(cluster_summary skipped)" '1 tests on a cluster skipped: mpirun was not found'

# --- scripts/cluster, with a stand-in for tc

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
checked() { PATH="$folder:$PATH" "$root/scripts/cluster" --mpi $mpi --check "$@" 2>&1; }
netem 1
expect 'check without netem' "$(checked)" \
  'cluster: this kernel lacks sch_netem, so packets are not delayed by 100us; the rate is 1gbit'
expect 'check without netem and delay' "$(checked --delay 0)" ''
expect 'quiet check without netem' "$(checked --quiet)" ''
netem 0
expect 'check with netem' "$(checked)" ''
exit $failed
