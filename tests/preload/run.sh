#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh OPTION... -- LAUNCHER... -- PROGRAM...
# Runs an MPI program without and with the library before its MPI, and passes when it ends as it should each time, prints the same,
# and the library says that it served what it should have.
#
#   --library FILE   the library
#   --stats COMMAND  reads what the library wrote (stats.cpp)
#   --mpi NAME, --ranks N
#   --run SET        one run more, in this order. SET is one of
#                      native    without the library
#                      trees     with it, as it decides by itself
#                      all       every collective, blocking or not, is made to run an algorithm that serves every call;
#                                all=1 is passed on
#                      forced:K  every collective is made to run the K-th of its algorithms
#                      left:C,D  as all, but the collectives C, D stay with the MPI
#   --same           all runs print the same; see --but
#   --but REGEX      lines that need not be the same
#   --fails          the program must end with another status than 0, in each run
#   --served C,D     these were rerouted, in each run of all and forced
#   --seconds N      how long each run may take
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

# The first of each serves every call; those with a question mark serve only some, as calls in place or powers of two.
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

# The environment of the ranks in a run of SET, as NAME=VALUE in `environment`; `some` has the collectives whose algorithms need
# not serve.
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
  # Which is not so by default where nothing goes on within the MPI's own calls.
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

# complain WHY FILE...: says why, what was printed, and how to run that again
complain() {
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
    124 | 137) complain "it hung" "$scratch/out" "$scratch/err" ;;
  esac
  if [ -n "$fails" ]; then
    [ $status != 0 ] || complain "it ended with 0" "$scratch/out" "$scratch/err"
    grep -q 'it came back' "$scratch/out" && complain "it did not end where it should" "$scratch/out" "$scratch/err"
    continue
  fi
  [ $status = 0 ] || complain "it ended with $status" "$scratch/out" "$scratch/err"
  if [ -n "$same" ]; then
    if [ -n "$but" ]; then sed -E "/$but/d" "$scratch/out" > "$scratch/said"; else cp "$scratch/out" "$scratch/said"; fi
    if [ -z "$first" ]; then
      first=$set
      mv "$scratch/said" "$scratch/first"
    else
      diff "$scratch/first" "$scratch/said" > "$scratch/differs" || complain "it prints other lines than with $first" "$scratch/differs"
    fi
  fi
  [ "$set" != native ] || continue
  asked=(--mpi "$mpi" --ranks "$ranks")
  case $set in
    all) [ -z "$served" ] || asked+=(--served "$served" --all-served) ;;
    forced:*)
      these=
      for collective in ${served//,/ }; do
        case $some in *,$collective,*) ;; *) these+="${these:+,}$collective" ;; esac
      done
      [ -z "$these" ] || asked+=(--served "$these") ;;
  esac
  "$stats" "$scratch/stats.json" "${asked[@]}" > "$scratch/stats" 2>&1 || complain "its statistics are not as they should be" "$scratch/stats" "$scratch/err"
done
