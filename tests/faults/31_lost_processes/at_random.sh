#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# at_random.sh COMMAND...: runs COMMAND with a use of memory and a random time of at most 20 ms (for
# the set-up, 60 ms), several times. Passes if each run ends as end_within.sh demands.
# TUTTI_TEST_SEED=N repeats the times of an earlier run.
set -u
RANDOM=${TUTTI_TEST_SEED:-$$}
seed=${TUTTI_TEST_SEED:-$$}
unset TUTTI_TEST_SEED # programs report variables that they do not know
here=$(dirname "$0")
for what in setup lines slots address schedule p2p groups setup address p2p; do
  limit=20000
  [ $what = setup ] && limit=60000
  delay=$((1 + (RANDOM * 32768 + RANDOM) % limit))
  "$here/end_within.sh" rank "$@" $what $delay || {
    echo "again: TUTTI_TEST_SEED=$seed $0 $*"
    exit 1
  }
done
