#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh ROOT         fails when a room of ROOT/src includes what stands above it, or is not in both tables
# check.sh --self-test  plants such faults in a scratch tree, and fails when they are not caught
#
# The rooms bottom up, and what each may include of those above it in this table (itself always). What may be in
# each is told in the table of docs/architecture.md, which has the same rooms in the same order.
table='
core        :
compute     :
group       :
fabric      : compute group
schedule    : group
patterns    :
algorithms  : schedule patterns
compose     : group schedule
compositions: group compose
select      : core group schedule compose
check       : group schedule compose select
engines     : core compute group fabric
execute     : compute group fabric schedule compose engines/endpoint.hpp
mail        : group fabric engines/endpoint.hpp engines/carrier.hpp execute/progressing.hpp
trace       : core select
settings    : core select engines/endpoint.hpp trace
face        : core compute group fabric schedule compose select engines/endpoint.hpp execute mail trace settings
bsp         : core compute group fabric engines/endpoint.hpp mail face
launch      : core engines settings face
tasks       : core engines/endpoint.hpp engines/embedded/sleep.hpp execute/progressing.hpp mail face launch/modules.hpp
workers     : tasks/crew.hpp
lpf         : core engines launch face bsp
preload     : core compute group engines select trace settings face
toolkit     :
tune        : core compute select check engines face launch
'
# Of the public headers every room may include tutti/version.hpp and tutti/core/; these may include all of them.
public_rooms=' face launch lpf toolkit '
# tutti/core/ itself includes nothing but tutti/core/ and the standard library.
# <mpi.h> appears here only:
mpi_places='^(src/engines/mpi/|src/launch/mpi/|src/lpf/mpi/|src/preload/|include/tutti/mpi\.hpp$|include/lpf/mpi\.h$|bench/|tests/)'

set -u
export LC_ALL=C

declare -A allowed
rooms=()
while IFS=: read -r room list; do
  read -r room <<< "$room"
  [ -n "$room" ] || continue
  rooms+=("$room")
  allowed[$room]=" $room $list "
done <<< "$table"

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # house [SED]: a tree of empty rooms, and the document that tells of them, changed by SED
  house() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/include" "$scratch/tree/docs" "${rooms[@]/#/$scratch/tree/src/}"
    printf '| `src/%s` | something |\n' "${rooms[@]}" | sed "${1-}" > "$scratch/tree/docs/architecture.md"
  }
  # outcome STATUS WHAT: what the check must say of the tree
  outcome() {
    bash "$self" "$scratch/tree" > "$scratch/said" 2>&1
    [ $? -eq "$1" ] || { echo "self-test: $2 should give $1:"; cat "$scratch/said"; failed=1; }
  }
  # expect STATUS FILE INCLUDE: a tree that holds only FILE, with that include
  expect() {
    house
    mkdir -p "$scratch/tree/$(dirname "$2")"
    printf '#include %s\n' "$3" > "$scratch/tree/$2"
    outcome "$1" "$2 including $3"
  }
  house; outcome 0 'a house of all rooms'
  house '/compute/d'; outcome 1 'a room that the document does not tell of'
  house '1{h;d};2{G}'; outcome 1 'rooms in another order in the document'
  house '$a | `src/attic` | old things |'; outcome 1 'a room that is in the document alone'
  house 's,`src/fabric`,`src/fabric/deep`,'; outcome 0 'a row for a part of a room'
  house; rmdir "$scratch/tree/src/tune"; outcome 1 'a room that is in the tables alone'
  house; touch "$scratch/tree/src/a.cpp"; outcome 1 'a file in no room'
  expect 1 src/core/a.cpp '"execute/executor.hpp"'
  expect 1 src/core/a.cpp '"../execute/executor.hpp"'
  expect 1 src/schedule/deep/a.hpp '<engines/threads/engine.hpp>'
  expect 1 src/algorithms/allreduce/ring.cpp '"engines/endpoint.hpp"'
  expect 1 src/execute/a.cpp '"engines/mpi/engine.hpp"'
  expect 1 src/face/a.cpp '"tune/grow.hpp"'
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
bad=0
complain() { echo "$1:$2: $3"; bad=1; }

# a room may include only what stands above it in the table, which is below it in the house
below=' '
for room in "${rooms[@]}"; do
  for one in ${allowed[$room]}; do
    [[ $one == "$room" || $below == *" ${one%%/*} "* ]] || complain "src/$room" 0 "may include $one, which stands above it"
  done
  below+="$room "
done

# the folders, this table and that of the document have the same rooms
for folder in src/*/; do
  [ -d "$folder" ] || continue
  room=$(basename "$folder")
  [ -n "${allowed[$room]-}" ] || complain "src/$room" 0 'is not in the table of tests/layers/check.sh'
done
for room in "${rooms[@]}"; do
  [ -d "src/$room" ] || complain "src/$room" 0 'is in the table of tests/layers/check.sh, and is no folder'
done
told=$(sed -nE 's,^\| `src/([a-z_]+).*,\1,p' docs/architecture.md | uniq)
[ "$told" = "$(printf '%s\n' "${rooms[@]}")" ] ||
  complain docs/architecture.md 0 "has other rooms than the table of tests/layers/check.sh, or another order: ${told//$'\n'/ }"

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
      [ "$path" != "$top" ] && [ -n "${allowed[$top]-}" ] && [ ! -e "$(dirname "$file")/$path" ] && [ ! -e "include/$path" ] &&
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
