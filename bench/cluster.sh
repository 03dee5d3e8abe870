#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench/cluster.sh FOLDER [OPTION...]: compares tutti over Open MPI with Open MPI's own collectives
# on a cluster of 4 nodes of 2 ranks (scripts/cluster), from 8 B to 1 MiB. FOLDER has the programs
# of bench/, for example build/release/bin. The other arguments are options of compare, for example
# --json FILE.
#
# The network is that of scripts/cluster, 1 Gbit/s and 100 us, made 10 times slower. On a cluster
# each rank has a core. Here all ranks and the network's own work share the cores of one machine,
# and with 2 cores they would decide most times. The ratio of rate and delay stays.
# `--rate 1gbit --delay 100us` gives the original.
set -eu
[ $# -gt 0 ] || { echo 'usage: bench/cluster.sh FOLDER [OPTION OF COMPARE...] (default: --rate 100mbit --delay 1ms)' >&2 && exit 2; }
folder=$1
shift
[ -x "$folder/compare" ] || { echo "cluster.sh: $folder has no program compare; build the preset release" >&2 && exit 2; }
rate='--rate 100mbit' delay='--delay 1ms'
for option in "$@"; do
  case $option in
    --rate | --rate=*) rate= ;;
    --delay | --delay=*) delay= ;;
  esac
done
exec "$folder/compare" --cluster 4 --ranks 8 --sizes 8,1KiB,32KiB,1MiB $rate $delay "$@"
