#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# names.sh ROOT         fails if two files of ROOT share a name and no row of the table permits it,
#                       or if a row of the table permits nothing
# names.sh --self-test  makes such files in a scratch tree, and fails if they are not detected
#
# A row lists places, then the reason. In a place `*` stands for a part of a path without a slash,
# and `**` for any part. Files may share a name if each lies in a place of the same row, and each
# in another place. A place that ends with + may have several of them.
table='
**CMakeLists.txt+                                           : CMake reads files of this name
**README.md+                                                : forges show the page of this name
src/algorithms/*/*.cpp+ src/compositions/*.cpp              : the name that users give an algorithm
src/engines/*/engine.cpp+ tests/toy/engines/*/engine.cpp    : cmake/engines.cmake finds engines by it
src/engines/*/tests.cmake+ tests/toy/engines/*/tests.cmake  : the same for the tests of an engine
include/tutti/*.hpp include/tutti/kamping/*.hpp             : the names of the headers of KaMPIng
src/**.cpp tests/unit/**.cpp                                : a test is named after what it tests
src/frontends/lpf/*.cpp tests/lpf/layers/*.cpp              : the same for the layers above LPF
src/runtime/launch/mpi/*.cpp tests/adopt/*.cpp              : the same for programs that start MPI
tools/tutti/*.cpp tests/tool/*.cpp                          : the same for subcommands
bench/*.cpp tests/bench/*.cpp                               : the same for benchmarks
'

set -u
export LC_ALL=C

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # expect STATUS FILE...: runs the check on a tree that has only these files
  expect() {
    local file status=$1
    shift
    rm -rf "$scratch/tree"
    for file in "$@"; do
      mkdir -p "$scratch/tree/$(dirname "$file")"
      touch "$scratch/tree/$file"
    done
    bash "$self" "$scratch/tree" > "$scratch/output" 2>&1
    [ $? -eq "$status" ] || { echo "self-test: $* should give $status:"; cat "$scratch/output"; failed=1; }
  }
  expect 0 src/base/a.cpp src/base/a.hpp src/base/b.cpp
  expect 1 src/base/a.cpp src/schedule/a.cpp
  expect 1 src/base/a.hpp tests/support/a.hpp
  expect 1 docs/a.md docs/guide/a.md
  expect 1 include/tutti/a.hpp include/tutti/detail/a.hpp
  expect 1 include/tutti/a.hpp include/tutti/kamping/a.hpp src/base/a.hpp
  expect 1 src/algorithms/parts/a.hpp src/compositions/parts/a.hpp
  expect 1 src/engines/engine.cpp src/engines/threads/engine.cpp
  expect 1 src/base/a.cpp tests/spmd/a.cpp
  expect 1 src/base/a.cpp tests/unit/a.cpp tests/unit/b/a.cpp
  expect 1 tools/tutti/a.cpp tests/tool/a.cpp tests/unit/a.cpp
  expect 0 CMakeLists.txt src/CMakeLists.txt tests/CMakeLists.txt
  expect 0 README.md tests/README.md
  expect 0 src/algorithms/bcast/a.cpp src/algorithms/gather/a.cpp src/compositions/a.cpp
  expect 0 src/engines/fibers/engine.cpp src/engines/threads/engine.cpp
  expect 0 include/tutti/a.hpp include/tutti/kamping/a.hpp
  expect 0 src/base/a.cpp tests/unit/a.cpp
  expect 0 tools/tutti/a.cpp tests/tool/a.cpp
  # A row that permits nothing is an error in the tree that has this script.
  expect 1 tests/layers/names.sh src/base/a.cpp tests/unit/a.cpp
  [ $failed = 0 ] && echo 'names: the check detects all errors'
  exit $failed
fi

cd "${1:?usage: names.sh ROOT | --self-test}" || exit 2
bad=0
report() { echo "$1"; bad=1; }

# regex_of PLACE: the regular expression of a place, without its +
regex_of() {
  local text=${1%+}
  text=${text//./[.]}
  text=${text//\*\*/@}
  text=${text//\*/[^/]*}
  echo "^${text//@/.*}\$"
}

rows=()     # the places of each row
regexes=()  # their regular expressions
used=()
while IFS=: read -r places reason; do
  [ -n "${reason-}" ] || continue
  read -r places <<< "$places"
  rows+=("$places")
  regex=
  set -f
  for place in $places; do regex+=" $(regex_of "$place")"; done
  set +f
  regexes+=("$regex")
  used+=(0)
done <<< "$table"

# permits ROW FILE...: whether each file lies in a place of the row, and no two of them in one place
# without a +
permits() {
  local row=$1 file i place taken=' '
  local -a place_of regex_of_place
  shift
  read -ra place_of <<< "${rows[$row]}"
  read -ra regex_of_place <<< "${regexes[$row]}"
  for file in "$@"; do
    place=
    for i in "${!place_of[@]}"; do
      [[ $file =~ ${regex_of_place[$i]} ]] && place=${place_of[$i]}
    done
    [ -n "$place" ] || return 1
    [[ $place == *+ || $taken != *" $place "* ]] || return 1
    taken+="$place "
  done
}

folders=()
for folder in CMakeLists.txt README.md bench cmake docs examples include scripts src tests tools trees; do
  [ -e "$folder" ] && folders+=("$folder")
done
declare -A files  # the paths of each name
while read -r path; do
  files[${path##*/}]+=" $path"
done < <(find "${folders[@]}" -type f | sort)
for name in "${!files[@]}"; do
  read -ra sharing <<< "${files[$name]}"
  [ ${#sharing[@]} -gt 1 ] || continue
  permitted=
  for row in "${!rows[@]}"; do
    permits "$row" "${sharing[@]}" && { permitted=1; used[$row]=1; }
  done
  [ -n "$permitted" ] || report "$name: the name of several files:${files[$name]}"
done
if [ -e tests/layers/names.sh ]; then
  for row in "${!rows[@]}"; do
    [ "${used[$row]}" = 1 ] || report "tests/layers/names.sh: no two files need the row ${rows[$row]}"
  done
fi

if [ $bad = 0 ]; then
  echo 'names: no two files share a name without a reason'
else
  echo 'names: the table at the head of tests/layers/names.sh lists which files may share a name'
fi
exit $bad
