#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# preload.sh PROGRAM MPI...: bench/preload measures every case for each MPI, without tutti, with it and with a tree; it says
# what ran, and the tree that it was given is what runs.
set -u
program=$1
shift
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/tree.json" << 'TREE'
{"schema": "tutti/tree/1", "pure": {"allreduce": [
  {"when": {"inter": false}, "by": "bytes", "steps": [{"upto": 8, "use": "recursive_doubling"}, {"use": "native"}]}]}}
TREE
few=(--quick --ranks 2 --collectives allreduce,barrier --sizes 8,4096 --budget-ms 0.5 --tree "$scratch/tree.json")
failed=0
# holds WHAT TEXT FILE
holds() { grep -qF -- "$2" "$3" || { echo "$1: there is no \"$2\" in"; cat "$3"; failed=1; }; }

"$program" "${few[@]}" > "$scratch/table" 2> "$scratch/told" || { cat "$scratch/told"; exit 1; }
"$program" "${few[@]}" --json > "$scratch/json" 2> "$scratch/told" || { cat "$scratch/told"; exit 1; }
python3 - "$scratch/json" "$@" << 'CHECK' || failed=1
import json, sys
all = json.load(open(sys.argv[1]))
assert all["schema"] == "tutti/bench-preload/1" and all["ranks"] == 2, all
assert sorted(all["mpis"]) == sorted(sys.argv[2:]), all["mpis"].keys()
for mpi, measured in all["mpis"].items():
    cases = {(c["collective"], c["bytes"]): c for c in measured["cases"]}
    assert set(cases) == {("allreduce", 8), ("allreduce", 4096), ("barrier", 0)}, cases.keys()
    for which, c in cases.items():
        assert set(c["us"]) == {"without", "with", "tree", "again"} and min(c["us"].values()) > 0, (mpi, c)
        assert set(c["ran"]) == {"with", "tree"}, (mpi, c)
    assert cases["allreduce", 8]["ran"]["tree"] == "recursive_doubling", (mpi, cases)
    assert cases["allreduce", 4096]["ran"]["tree"] == "native", (mpi, cases)
CHECK
for mpi in "$@"; do
  [ "$mpi" = openmpi ] && title='Open MPI' || title=MPICH
  holds "the table" "$title, p = 2: microseconds" "$scratch/table"
done
holds "the table" 'without, measured twice' "$scratch/table"
"$program" --ranks 0 > "$scratch/told" 2>&1
[ $? = 2 ] || { echo 'no rank at all is no wrong call'; failed=1; }
exit $failed
