#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh ROOT         fails when a room of ROOT/src includes what stands above it
# check.sh --self-test  plants such includes in a scratch tree, and fails when they are not caught
#
# The rooms bottom up, and what each may include of the others (itself always). `all` is every room but check,
# simulate and tune, which serve the tools: the first two only read schedules, the third runs them.
table='
core        :
compute     :
group       : core
fabric      : core compute group
schedule    : core group
patterns    :
algorithms  : core schedule patterns
compose     : core schedule group
compositions: core schedule group compose
select      : core schedule group compose
engines     : core compute fabric group
execute     : core compute schedule fabric group compose engines/endpoint.hpp
check       : core schedule patterns algorithms group compose compositions select
simulate    : core schedule patterns algorithms select
tune        : all check
report      : core schedule patterns algorithms select
face        : all
bsp         : all
tasks       : all
preload     : all
'
# Of the public headers every room may include tutti/version.hpp and tutti/core/; these may include all of them.
public_rooms=' face bsp tasks preload '
# tutti/core/ itself includes nothing but tutti/core/ and the standard library.
# <mpi.h> appears here only:
mpi_places='^(src/engines/mpi/|src/preload/|include/tutti/mpi\.hpp$|include/lpf/mpi\.h$|bench/|tests/)'

set -u
export LC_ALL=C

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # expect STATUS FILE INCLUDE: a tree that holds only FILE, with that include
  expect() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/include" "$scratch/tree/src" "$scratch/tree/$(dirname "$2")"
    printf '#include %s\n' "$3" > "$scratch/tree/$2"
    bash "$self" "$scratch/tree" > "$scratch/said" 2>&1
    [ $? -eq "$1" ] || { echo "self-test: $2 including $3 should give $1:"; cat "$scratch/said"; failed=1; }
  }
  expect 1 src/core/a.cpp '"execute/executor.hpp"'
  expect 1 src/core/a.cpp '"../execute/executor.hpp"'
  expect 1 src/schedule/deep/a.hpp '<engines/threads/engine.hpp>'
  expect 1 src/algorithms/allreduce/ring.cpp '"engines/endpoint.hpp"'
  expect 1 src/execute/a.cpp '"engines/mpi/engine.hpp"'
  expect 1 src/face/a.cpp '"simulate/model.hpp"'
  expect 1 src/execute/a.cpp '<tutti/tutti.hpp>'
  expect 1 src/fabric/a.cpp '<mpi.h>'
  expect 1 include/tutti/tutti.hpp '<mpi.h>'
  expect 1 include/tutti/core/error.hpp '<tutti/tutti.hpp>'
  expect 1 include/tutti/tutti.hpp '"core/signature.hpp"'
  expect 1 src/attic/a.cpp '<vector>'
  expect 0 src/execute/a.cpp '"engines/endpoint.hpp"'
  expect 0 src/execute/a.cpp '"execute/cache.hpp"'
  expect 0 src/algorithms/allreduce/ring.cpp '"patterns/ring.hpp"'
  expect 0 src/core/a.cpp '<tutti/core/error.hpp>'
  expect 0 src/face/a.cpp '<tutti/tutti.hpp>'
  expect 0 src/engines/mpi/a.cpp '<mpi.h>'
  expect 0 include/tutti/mpi.hpp '<mpi.h>'
  [ $failed = 0 ] && echo 'layers: the check catches what it should'
  exit $failed
fi

cd "${1:?usage: check.sh ROOT | --self-test}" || exit 2
declare -A allowed
while IFS=: read -r room list; do
  read -r room <<< "$room"
  [ -n "$room" ] && allowed[$room]=" $room $list "
done <<< "$table"
everything=' '
for room in "${!allowed[@]}"; do
  case $room in check | simulate | tune) ;; *) everything+="$room " ;; esac
done
for room in "${!allowed[@]}"; do
  [[ ${allowed[$room]} == *' all '* ]] && allowed[$room]="${allowed[$room]/ all / $everything }"
done

bad=0
complain() { echo "$1:$2: $3"; bad=1; }

# a room that the table does not name has no place in the house
for folder in src/*/; do
  [ -d "$folder" ] || continue
  room=$(basename "$folder")
  [ -n "${allowed[$room]-}" ] || complain "src/$room" 0 'is not in the table of tests/layers/check.sh'
done

for file in src/*.?pp; do
  [ -e "$file" ] && complain "$file" 0 'stands in no room'
done

# normal FILE PATH: PATH with its dots taken out, seen from the folder of FILE when it begins with one
normal() {
  local part out=()
  local path=$2
  [[ $path == .* ]] && path=$(dirname "$1")/$path
  IFS=/ read -ra parts <<< "$path"
  for part in "${parts[@]}"; do
    case $part in '' | .) ;; ..) [ ${#out[@]} -gt 0 ] && unset 'out[-1]' ;; *) out+=("$part") ;; esac
  done
  local IFS=/
  normal_path="${out[*]}"
  normal_path=${normal_path#src/}
}

places=()
for place in src include tests bench examples tools; do [ -d "$place" ] && places+=("$place"); done
while IFS=: read -r file line text; do
  [[ $text =~ ^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"\<]([^\"\>]+)[\"\>] ]] || continue
  normal "$file" "${BASH_REMATCH[1]}"
  path=$normal_path
  if [ "$path" = mpi.h ]; then
    [[ $file =~ $mpi_places ]] || complain "$file" "$line" 'includes <mpi.h>; only the mpi engine and tutti/mpi.hpp may'
    continue
  fi
  top=${path%%/*}
  case $file in
    include/*)
      [ "$path" != "$top" ] && [ -n "${allowed[$top]-}" ] && [ ! -e "$(dirname "$file")/$path" ] &&
        complain "$file" "$line" "is public, but includes src/$path"
      case $file:$path in
        include/tutti/core/*:tutti/core/* | include/tutti/core/*:tutti/version.hpp) ;;
        include/tutti/core/*:tutti/* | include/tutti/core/*:lpf/*)
          complain "$file" "$line" "includes <$path>, which stands above tutti/core" ;;
      esac ;;
    src/*/*)
      room=${file#src/}
      room=${room%%/*}
      [ -n "${allowed[$room]-}" ] || continue
      case $path in
        tutti/core/* | tutti/version.hpp) continue ;;
        tutti/* | lpf/*)
          [[ $public_rooms == *" $room "* || $file =~ $mpi_places ]] ||
            complain "$file" "$line" "$room includes the public <$path>"
          continue ;;
      esac
      [ "$path" = "$top" ] && continue                 # <vector>, or a neighbour of the same folder
      [ -n "${allowed[$top]-}" ] || continue           # a folder of another library, or of the room's own
      [ -e "$(dirname "$file")/$path" ] && continue    # a folder of the room itself
      [[ ${allowed[$room]} == *" $top "* || ${allowed[$room]} == *" $path "* ]] ||
        complain "$file" "$line" "$room includes $path, which it may not" ;;
  esac
done < <(grep -rnE --include='*.cpp' --include='*.hpp' --include='*.h' --include='*.c' '^[[:space:]]*#[[:space:]]*include' \
  "${places[@]}" 2>/dev/null)

if [ $bad = 0 ]; then
  echo 'layers: every room includes only what stands below it'
else
  echo 'layers: the table of what may include what stands at the head of tests/layers/check.sh'
fi
exit $bad
