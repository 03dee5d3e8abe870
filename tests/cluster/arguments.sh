#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# arguments.sh CLUSTER: scripts/cluster rejects wrong arguments with 2 and one message that names
# them, before it starts anything.
set -u
cluster=$1
failed=0
rejects() { # TEXT ARGUMENT...
  local text=$1 output status
  shift
  output=$("$cluster" "$@" 2>&1)
  status=$?
  [ $status = 2 ] && [[ $output == "cluster: "*"$text"* ]] && [ "$(wc -l <<< "$output")" = 1 ] && return
  echo "FAILED: cluster $* ended with $status and printed: $output"
  failed=1
}
rejects 'there is no program'
rejects 'there is no program' --nodes 2 --
rejects '--nodes' --nodes 0 true
rejects '--nodes' --nodes 17 true
rejects '--nodes' --nodes -1 true
rejects '--nodes' --nodes 2x true
rejects '--nodes' --nodes 99999999999999999999 true
rejects '--nodes needs a value' --nodes
rejects '--ranks-per-node' --ranks-per-node '' true
rejects '--mpi' --mpi lam true
rejects '--rate' --rate 1 true
rejects '--rate' --rate 0gbit true
rejects '--rate' --rate '1gbit; true' true
rejects '--delay' --delay 100 true
rejects '--delay' --delay 1s true
rejects '--network' --network wireless true
rejects '--relay' --relay /no/such/program true
rejects '--color' --color true
rejects '--inside' --inside true
[[ $("$cluster" --help) == 'usage: cluster'* ]] || { echo 'FAILED: --help prints no usage' && failed=1; }
exit $failed
