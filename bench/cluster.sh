#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench/cluster.sh FOLDER [OPTION...]: compares tutti over Open MPI with Open MPI's own collectives
# on a cluster of 4 nodes of 2 ranks (scripts/cluster), from 8 B to 1 MiB. FOLDER has the programs
# of bench/, for example build/release/bin. The other arguments are options of compare, for example
# --json FILE.
set -eu
[ $# -gt 0 ] || { echo 'usage: bench/cluster.sh FOLDER [OPTION OF COMPARE...]' >&2 && exit 2; }
folder=$1
shift
[ -x "$folder/compare" ] || { echo "cluster.sh: $folder has no program compare; build the preset release" >&2 && exit 2; }
exec "$folder/compare" --cluster 4 --ranks 8 --sizes 8,1KiB,32KiB,1MiB "$@"
