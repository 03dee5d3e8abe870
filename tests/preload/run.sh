#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh OPTION... -- LAUNCHER... -- PROGRAM...
#
# Runs an MPI program without and with the preload library. Passes if each run ends as expected,
# prints the same, and the library reports that it served the expected collectives.
#
#   --library FILE   the library
#   --stats COMMAND  reads the library's statistics (stats.cpp)
#   --mpi NAME, --ranks N
#   --run SET        one more run, in this order. SET is one of
#                      native    without the library
#                      trees     with it and its own choices
#                      all       every collective, blocking or not, is forced to an algorithm that
#                                serves every call; all=1 is passed to the program
#                      forced:K  every collective is forced to the K-th of its algorithms
#                      left:C,D  the same as all, but MPI runs the collectives C, D
#   --same           all runs must print the same; see --but
#   --but REGEX      lines that may differ
#   --fails          the program must end with a non-zero status in each run
#   --served C,D     tutti must have served these in each run of all and forced
#   --seconds N      time limit of each run
set -u
library='' stats='' mpi='' ranks='' same='' but='' fails='' served='' seconds=100
runs=()
while [ "$1" != -- ]; do
  case $1 in
    --run) runs+=("$2"); shift 2 ;;
    --same) same=1; shift ;;
    --fails) fails=1; shift ;;
    --library | --stats | --mpi | --ranks | --but | --served | --seconds) printf -v "${1#--}" %s "$2"; shift 2 ;;
    *) echo "run.sh: what is $1?" >&2; exit 2 ;;
  esac
done
shift
launcher=()
while [ "$1" != -- ]; do launcher+=("$1"); shift; done
shift

# The first algorithm of each collective serves every call. Those with a question mark serve only
# some, for example calls in place or powers of two.
declare -A algorithms=(
  [barrier]='dissemination tree recursive_exchange along'
  [bcast]='knomial linear bine binary_pipeline chain circulant hops scatter_recursive_doubling scatter_ring along'
  [reduce]='knomial linear bine chain circulant hops in_order_binary rabenseifner along'
  [allreduce]='recursive_doubling ring rabenseifner double_tree dual_root hops recursive_multiplying reduce_scatter_allgather
    segmented_ring swing bine along'
  [gather]='knomial linear bine hops along'
  [gatherv]='linear knomial hops along'
  [scatter]='knomial linear bine hops along'
  [scatterv]='linear knomial hops along'
  [allgather]='ring bruck linear bine hops neighbor_exchange? pat recursive_doubling? sparbit locality_bruck? along'
  [allgatherv]='ring bruck circulant hops along'
  [alltoall]='along bruck pairwise scattered hops in_place_exchange?'
  [alltoallv]='along scattered padded_bruck two_phase_bruck tuna hops in_place_pairwise?'
  [alltoallw]='along scattered hops in_place_pairwise?'
  [reduce_scatter]='pairwise butterfly recursive_doubling recursive_halving ring hops pat bine along'
  [reduce_scatter_block]='pairwise butterfly recursive_doubling recursive_halving ring hops pat bine along'
  [scan]='recursive_doubling linear'
  [exscan]='recursive_doubling linear'
)

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# Sets `environment` to the variables of the ranks in a run of SET, as NAME=VALUE. Sets `some` to
# the collectives whose algorithms need not serve all calls.
environment=() some=
surround() {
  environment=() some=
  [ "$1" != native ] || return 0
  environment=("LD_PRELOAD=$library" "TUTTI_PRELOAD_STATS=json:$scratch/stats.json" TUTTI_COLL_FALLBACK=silent)
  local collective choice k=0
  case $1 in
    trees) return ;;
    forced:*) k=${1#*:} ;;
  esac
  # This is not the default if nothing progresses inside MPI's own calls.
  environment+=(TUTTI_PRELOAD_NONBLOCKING=1)
  for collective in "${!algorithms[@]}"; do
    read -r -d '' -a choice <<< "${algorithms[$collective]}"
    choice=${choice[k % ${#choice[@]}]}
    case ,${1#left:}, in *,$collective,*) choice=native ;; esac
    case $choice in *\?) some+=",$collective," ;; esac
    choice=${choice%\?}
    environment+=("TUTTI_${collective^^}_ALGORITHM=$choice")
  done
}

# report_failure WHY FILE...: prints the reason, the output, and the command that repeats the run
report_failure() {
  echo "FAILED with $set, $ranks ranks of $mpi: $1"
  shift
  local file
  for file in "$@"; do tail -n 40 "$file" | cut -c1-300; done
  printf 'again:'
  printf ' %q' "${launcher[@]}" env "${environment[@]}" "${command[@]}"
  echo
  exit 1
}

first=
for set in "${runs[@]}"; do
  surround "$set"
  command=("$@")
  [ "$set" != all ] || command+=(all=1)
  rm -f "$scratch/stats.json"
  timeout -k 5 "$seconds" "${launcher[@]}" env "${environment[@]}" "${command[@]}" > "$scratch/out" 2> "$scratch/err" < /dev/null
  status=$?
  case $status in
    124 | 137) report_failure "it hung" "$scratch/out" "$scratch/err" ;;
  esac
  if [ -n "$fails" ]; then
    [ $status != 0 ] || report_failure "it ended with 0" "$scratch/out" "$scratch/err"
    grep -q 'it returned' "$scratch/out" && report_failure "it did not end where it should" "$scratch/out" "$scratch/err"
    continue
  fi
  [ $status = 0 ] || report_failure "it ended with $status" "$scratch/out" "$scratch/err"
  if [ -n "$same" ]; then
    if [ -n "$but" ]; then sed -E "/$but/d" "$scratch/out" > "$scratch/compared"; else cp "$scratch/out" "$scratch/compared"; fi
    if [ -z "$first" ]; then
      first=$set
      mv "$scratch/compared" "$scratch/first"
    else
      diff "$scratch/first" "$scratch/compared" > "$scratch/differs" || report_failure "it prints other lines than with $first" "$scratch/differs"
    fi
  fi
  [ "$set" != native ] || continue
  expected=(--mpi "$mpi" --ranks "$ranks")
  case $set in
    all) [ -z "$served" ] || expected+=(--served "$served" --all-served) ;;
    forced:*)
      these=
      for collective in ${served//,/ }; do
        case $some in *,$collective,*) ;; *) these+="${these:+,}$collective" ;; esac
      done
      [ -z "$these" ] || expected+=(--served "$these") ;;
  esac
  "$stats" "$scratch/stats.json" "${expected[@]}" > "$scratch/stats" 2>&1 || report_failure "its statistics are not as they should be" "$scratch/stats" "$scratch/err"
done
