#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench/compile_time.sh [--json] [BUILD]: measures what the headers cost a program that includes
# them: CPU seconds of the compiler, and the size after the preprocessor. The seconds are the user
# time of -fsyntax-only, best of 7, because other programs can only increase it. BUILD is a
# configured tree (build/dev). The variables REPEAT and CXX change the number of runs and the
# compiler.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
json=
if [ "${1:-}" = --json ]; then json=1 && shift; fi
build=${1:-build/dev}
[ -e "$build/include/tutti/version.hpp" ] || { echo "$build is not configured: cmake --preset dev" >&2; exit 2; }
compiler=(${CXX:-g++} -std=c++20)
tutti=(-Iinclude "-I$build/include")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=()

# measure NAME FLAG... <SOURCE
measure() {
  local name=$1 best=999 TIMEFORMAT=%U
  shift
  cat >"$work/one.cpp"
  for ((i = 0; i < ${REPEAT:-7}; ++i)); do
    local took=$({ time "${compiler[@]}" "$@" -fsyntax-only "$work/one.cpp" >&2; } 2>&1)
    case $took in *[!0-9.]*) echo "$name does not compile: $took" >&2; exit 1 ;; esac
    best=$(awk -v a="$took" -v b="$best" 'BEGIN { print a < b ? a : b }')
  done
  read -r lines bytes < <("${compiler[@]}" "$@" -E -P "$work/one.cpp" | wc -lc)
  rows+=("$name|$best|$lines|$bytes")
}
headers() { printf '#include <%s>\n' "$@"; }

measure "an empty file" </dev/null
measure "<vector> <string> <functional>" < <(headers vector string functional)
measure "<memory>" < <(headers memory)
measure "<tutti/tutti.hpp>" "${tutti[@]}" < <(headers tutti/tutti.hpp)
measure "one allgather, tutti" "${tutti[@]}" <<'END'
#include <tutti/tutti.hpp>
#include <vector>
std::vector<int> all(const tutti::communicator& world, const std::vector<int>& mine) {
  return world.allgather(tutti::send_buf(mine));
}
END
measure "ten calls, tutti" "${tutti[@]}" <<'END'
#include <tutti/tutti.hpp>
#include <vector>
using namespace tutti;
void ten(const communicator& world, std::vector<int>& v, const std::vector<int>& counts) {
  world.barrier();
  world.bcast(send_recv_buf(v));
  auto a = world.reduce(send_buf(v), op(std::plus<>{}));
  auto b = world.allreduce(send_buf(v), op(std::plus<>{}));
  auto c = world.gather(send_buf(v));
  auto d = world.scatter(send_buf(v));
  auto e = world.allgather(send_buf(v));
  auto [f, g] = world.allgatherv(send_buf(v), recv_counts_out());
  auto h = world.alltoallv(send_buf(v), send_counts(counts));
  auto i = world.scan(send_buf(v), op(std::plus<>{}));
}
END
measure "<memory>, and all else that tutti needs" < <(headers memory vector string functional span optional array concepts)
measure "all else that tutti needs" < <(headers vector string functional span optional array concepts)
for wrapper in mpicc.openmpi mpicc.mpich; do
  command -v $wrapper >/dev/null || continue
  flags=($($wrapper -show | grep -oE -- '-I[^ ]+'))
  measure "<mpi.h>, ${wrapper#*.}" "${flags[@]}" < <(headers mpi.h)
  for bindings in "" ", no C++ bindings"; do
    measure "one allgather, ${wrapper#*.}$bindings" "${flags[@]}" ${bindings:+-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX} <<'END'
#include <mpi.h>
#include <vector>
std::vector<int> all(MPI_Comm world, const std::vector<int>& mine) {
  int size = 0;
  MPI_Comm_size(world, &size);
  const int n = static_cast<int>(mine.size());
  std::vector<int> result(mine.size() * static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), n, MPI_INT, result.data(), n, MPI_INT, world);
  return result;
}
END
  done
done

if [ -n "$json" ]; then
  printf '%s\n' "${rows[@]}" | awk -F'|' 'BEGIN { printf "[" }
    { printf("%s\n  {\"name\": \"%s\", \"seconds\": %s, \"lines\": %s, \"bytes\": %s}", (NR > 1 ? "," : ""), $1, $2, $3, $4) }
    END { print "\n]" }'
else
  printf '%-42s %8s %8s %8s\n' "" "CPU s" lines KiB
  printf '%s\n' "${rows[@]}" | awk -F'|' '{ printf "%-42s %8.2f %8d %8d\n", $1, $2, $3, $4 / 1024 }'
fi
