#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# long_values.sh PROGRAM: invalid values of the environment are quoted up to 200 characters.
set -u
long=$(printf 'x%.0s' {1..1000})
bad=0
for name in TUTTI_ENGINE TUTTI_RANKS TUTTI_WORKERS TUTTI_SEED TUTTI_STACK TUTTI_CHECK TUTTI_COLL_FALLBACK TUTTI_TRACE TUTTI_PIN \
  TUTTI_NODES TUTTI_ALLREDUCE_ALGORITHM TUTTI_BCAST_COMPOSITION TUTTI_COLL_SELECTION_JSON_FILE \
  TUTTI_COLL_COMPOSITION_JSON_FILE TUTTI_TREES TUTTI_ALLREDUCE_INTER_ALGORITHM "TUTTI_$long"; do
  value=$long
  output=$(TUTTI_PIN=0 TUTTI_ENGINE=threads TUTTI_RANKS=2; export TUTTI_PIN TUTTI_ENGINE TUTTI_RANKS "$name=$value"; timeout 60 "$1" root 2>&1)
  if [[ ! $output =~ x{10} ]] || [[ $output =~ x{201} ]]; then
    echo "FAILED: $name is quoted as: $output"
    bad=1
  fi
done
# The library reads these only if other variables are set.
for other in "TUTTI_COLL_STRICT TUTTI_TREES=none.json" "TUTTI_MPI OMPI_COMM_WORLD_SIZE=1"; do
  name=${other% *}
  output=$(env TUTTI_ENGINE= TUTTI_RANKS=2 "${other#* }" "$name=$long" timeout 60 "$1" root 2>&1)
  if [[ ! $output =~ x{10} ]] || [[ $output =~ x{201} ]]; then
    echo "FAILED: $name is quoted as: $output"
    bad=1
  fi
done
exit $bad
