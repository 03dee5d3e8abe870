#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# nothing_left.sh WHAT CLUSTER [OPTION...]: passes if neither a process, nor a network namespace,
# nor a device is left after a cluster has ended. WHAT is a signal to the cluster (KILL, INT,
# TERM); failure, a rank that is killed; relay, a relay that is killed; or two, two clusters at
# once, of which one ends by a signal and the other one by itself, undisturbed.
set -u
what=$1
shift
cluster=("$@" --nodes 3 --ranks-per-node 1 --quiet)
if [ "$what" = relay ]; then
  cluster+=(--network relay)
  "${cluster[@]}" --check || exit
fi
mark=$(mktemp -d) || exit 2
jobs=()
trap 'kill -KILL "${jobs[@]}" 2> /dev/null; rm -rf "$mark"' EXIT
fail() {
  echo "FAILED: $1"
  cat "$mark"/output* 2> /dev/null
  exit 1
}
# Network namespaces of the processes with this text in their command line. All processes of a node
# are in one of them.
namespaces_of() {
  local file
  for file in $(grep -lsF -- "$1" /proc/[0-9]*/cmdline); do readlink "${file%/cmdline}/ns/net"; done 2> /dev/null | sort -u |
    grep -vxF "$(readlink /proc/self/ns/net)"
}
# The processes that are in one of these namespaces. Brackets mean something else to find.
processes_in() {
  local space
  for space in $1; do find /proc/[0-9]*/ns -maxdepth 1 -lname "${space//[][]/?}" -name net; done 2> /dev/null
}
# start NAME SCRIPT: starts a cluster whose ranks run SCRIPT, and waits until all of them do.
start() {
  mkdir "$mark/$1"
  # With its default action, which a shell changes for commands in the background.
  env --default-signal=INT,QUIT "${cluster[@]}" sh -c "touch $mark/$1/\$(hostname); $2" > "$mark/output_$1" 2>&1 < /dev/null &
  job=$!
  jobs+=("$job")
  for ((i = 0; i < 200; ++i)); do
    [ "$(find "$mark/$1" -name 'node*' | wc -l)" != 3 ] || return
    sleep 0.1
  done
  fail "the cluster has not started"
}
devices=$(ls /sys/class/net)
start one "while [ ! -e $mark/go ]; do sleep 0.1; done; [ $what != failure ] || [ \$(hostname) != node2 ] || kill -9 \$\$; sleep 1000"
one=$job
[ $what != two ] || start other "while [ ! -e $mark/end ]; do sleep 0.1; done; exit 7"
[ "$(ls /sys/class/net)" = "$devices" ] || fail 'the cluster has added a device to this machine'
spaces=$(namespaces_of "$mark/one")
[ "$(wc -l <<< "$spaces")" = 4 ] || fail "these should be the namespaces of three nodes and the head: $spaces"
[ "$(processes_in "$spaces" | wc -l)" -ge 7 ] || fail 'each node has at least two processes, and the head has one'
case $what in
  failure) touch "$mark/go" ;;
  two) kill -TERM "$one" ;;
  relay)
    relay=$(for file in $(processes_in "$spaces"); do grep -lsxF cluster_relay "${file%/ns/net}/comm"; done)
    relay=${relay#/proc/}
    [ -n "$relay" ] || fail 'the cluster has no relay'
    kill -KILL "${relay%/comm}"
    ;;
  *) kill -"$what" "$one" ;;
esac
wait "$one"
status=$?
[ $status != 0 ] || fail 'it ended with 0'
for ((i = 0; i < 50; ++i)); do
  [ -n "$(processes_in "$spaces")" ] || break
  sleep 0.1
done
left=$(processes_in "$spaces")
[ -z "$left" ] || fail "these are left after 5 s: $left"
[ "$(ls /sys/class/net)" = "$devices" ] || fail 'a device is left'
if [ $what = two ]; then
  touch "$mark/end"
  wait "$job"
  status=$?
  [ $status = 7 ] || fail "the other cluster ended with $status instead of 7"
fi
