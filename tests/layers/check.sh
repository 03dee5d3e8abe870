#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh ROOT         fails if a module of ROOT/src includes a higher one, or one of both tables
#                       lacks it
# check.sh --self-test  makes such errors in a scratch tree, and fails if they are not detected
#
# The table lists the modules bottom up. Each row lists the earlier modules that the module may
# include; it may always include itself. The table of docs/architecture.md describes the same
# modules in the same order.
table='
base               :
base/compute       :
base/group         :
transport/shm      : base base/compute base/group
schedule           : base/group
schedule/patterns  :
algorithms         : schedule schedule/patterns
schedule/composite : base/group schedule
compositions       : base/group schedule/composite
selection          : base base/group schedule schedule/composite
proof              : base/group schedule schedule/composite selection
simulation         : base base/group schedule schedule/composite selection
transport          : base base/group transport/shm
engines            : base base/compute base/group transport/shm transport
runtime/executor   : base/compute base/group transport/shm schedule schedule/composite transport
communicator/p2p   : base/group transport/shm transport runtime/executor/progressable.hpp
runtime/trace      : base selection
runtime/settings   : base selection transport runtime/trace
communicator       : base base/compute base/group transport/shm schedule schedule/composite selection transport runtime/executor communicator/p2p runtime/trace runtime/settings
frontends/bsp      : base base/compute base/group transport/shm transport communicator/internal_calls.hpp communicator/native_substitute.hpp
runtime/launch     : base engines transport/shm transport runtime/settings communicator/make_communicators.hpp communicator/rank_state.hpp
frontends/tasks    : base transport engines/embedded/sleep.hpp runtime/executor/progressable.hpp communicator/internal_calls.hpp runtime/launch/modules.hpp
frontends/tasks/tbb: frontends/tasks/worker_pool.hpp
frontends/lpf      : base engines transport runtime/launch communicator/internal_calls.hpp frontends/bsp
frontends/preload  : base base/compute base/group transport/shm engines transport selection runtime/trace runtime/settings communicator/internal_calls.hpp communicator/make_communicators.hpp
frontends/toolkit  : communicator/internal_calls.hpp
tuning             : base base/compute schedule selection proof simulation engines transport runtime/executor communicator/internal_calls.hpp communicator/make_communicators.hpp communicator/rank_state.hpp runtime/launch
'
# Public headers that every module may include, and that include only one another:
shared='^tutti/(call|collective|element|error|layout|operation|version|detail/(abi|bsp_abi|call_site|export|owner|p2p_abi|call_key|structure|tasks_abi))[.]hpp$'
# These modules may include all public headers.
public_modules=' communicator runtime/launch frontends/lpf frontends/toolkit '
# Only these files may include <mpi.h>:
mpi_places='^(src/engines/mpi/|src/runtime/launch/mpi/|src/frontends/lpf/mpi/|src/frontends/preload/|include/tutti/mpi\.hpp$|include/lpf/mpi\.h$|bench/|tests/)'

set -u
export LC_ALL=C

# module_of PATH: sets module_of to the innermost module that contains PATH (below src/), or to an
# empty text
module_of() {
  module_of=${1%/}
  while [ -n "$module_of" ] && [ -z "${allowed[$module_of]-}" ]; do
    case $module_of in */*) module_of=${module_of%/*} ;; *) module_of= ;; esac
  done
}

declare -A allowed
modules=()
while IFS=: read -r module list; do
  read -r module <<< "$module"
  [ -n "$module" ] || continue
  modules+=("$module")
  allowed[$module]=" $module $list "
done <<< "$table"

if [ "${1-}" = --self-test ]; then
  self=$(realpath "$0")
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
  failed=0
  # project [SED]: makes a tree of empty modules and its document, changed by SED
  project() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/include" "$scratch/tree/docs" "${modules[@]/#/$scratch/tree/src/}"
    printf '| `src/%s` | something |\n' "${modules[@]}" | sed "${1-}" > "$scratch/tree/docs/architecture.md"
  }
  # outcome STATUS WHAT: runs the check on the tree and compares its status
  outcome() {
    bash "$self" "$scratch/tree" > "$scratch/output" 2>&1
    [ $? -eq "$1" ] || { echo "self-test: $2 should give $1:"; cat "$scratch/output"; failed=1; }
  }
  # expect STATUS FILE INCLUDE: makes a tree that has only FILE, with that include
  expect() {
    project
    mkdir -p "$scratch/tree/$(dirname "$2")"
    printf '#include %s\n' "$3" > "$scratch/tree/$2"
    outcome "$1" "$2 including $3"
  }
  project; outcome 0 'a project of all modules'
  project '/base.compute/d'; outcome 1 'a module that the document lacks'
  project '1{h;d};2{G}'; outcome 1 'modules in another order in the document'
  project '$a | `src/attic` | old things |'; outcome 1 'a module that is in the document alone'
  project 's,`src/proof`,`src/proof/deep`,'; outcome 0 'a row for a part of a module'
  project; rmdir "$scratch/tree/src/tuning"; outcome 1 'a module that is in the tables alone'
  project; touch "$scratch/tree/src/a.cpp"; outcome 1 'a file in no module'
  expect 1 src/base/a.cpp '"runtime/executor/executor.hpp"'
  expect 1 src/base/a.cpp '"../runtime/executor/executor.hpp"'
  expect 1 src/schedule/deep/a.hpp '<engines/threads/engine.hpp>'
  expect 1 src/algorithms/allreduce/ring.cpp '"transport/endpoint.hpp"'
  expect 1 src/runtime/executor/a.cpp '"engines/mpi/engine.hpp"'
  expect 1 src/communicator/a.cpp '"tuning/grow.hpp"'
  expect 1 src/runtime/executor/a.cpp '<tutti/tutti.hpp>'
  expect 1 src/transport/shm/a.cpp '<mpi.h>'
  expect 1 include/tutti/tutti.hpp '<mpi.h>'
  expect 1 include/tutti/error.hpp '<tutti/tutti.hpp>'
  expect 1 include/tutti/tutti.hpp '"base/agreed_signature.hpp"'
  expect 1 src/frontends/a.cpp '<vector>'
  expect 1 src/transport/shm/a.cpp '"transport/endpoint.hpp"'
  expect 1 src/attic/a.cpp '<vector>'
  for front_end in bsp lpf tasks preload; do
    expect 0 "src/frontends/$front_end/a.cpp" '"communicator/internal_calls.hpp"'
    expect 1 "src/frontends/$front_end/a.cpp" '"communicator/rank_state.hpp"'
    expect 1 "src/frontends/$front_end/a.cpp" '"communicator/p2p/message_queue.hpp"'
  done
  expect 0 src/runtime/executor/a.cpp '"transport/endpoint.hpp"'
  expect 0 src/runtime/executor/a.cpp '"runtime/executor/cache.hpp"'
  expect 0 src/algorithms/allreduce/ring.cpp '"schedule/patterns/ring.hpp"'
  expect 0 src/base/a.cpp '<tutti/error.hpp>'
  expect 0 src/communicator/a.cpp '<tutti/tutti.hpp>'
  expect 0 src/engines/mpi/a.cpp '<mpi.h>'
  expect 0 include/tutti/mpi.hpp '<mpi.h>'
  [ $failed = 0 ] && echo 'layers: the check detects all errors'
  exit $failed
fi

cd "${1:?usage: check.sh ROOT | --self-test}" || exit 2
bad=0
report() { echo "$1:$2: $3"; bad=1; }

# A module may include only modules above it in the table, which are lower components.
below=' '
for module in "${modules[@]}"; do
  for one in ${allowed[$module]}; do
    module_of "$one"
    [[ $one == "$module" || $below == *" $module_of "* ]] || report "src/$module" 0 "may include $one, which is above it"
  done
  below+="$module "
done

# The folders, this table and the table of the document have the same modules.
while read -r folder; do
  module_of "${folder#src/}"
  [ "$folder" = src ] || [ -n "$module_of" ] || report "$folder" 0 'is not in the table of tests/layers/check.sh'
done < <(find src -type f -printf '%h\n' | sort -u)
for module in "${modules[@]}"; do
  [ -d "src/$module" ] || report "src/$module" 0 'is in the table of tests/layers/check.sh, and is no folder'
done
listed=$(sed -nE 's,^\| `src/([a-z0-9_/]+).*,\1,p' docs/architecture.md |
  while read -r path; do module_of "$path"; echo "${module_of:-$path}"; done | uniq)
[ "$listed" = "$(printf '%s\n' "${modules[@]}")" ] ||
  report docs/architecture.md 0 "has other modules than the table of tests/layers/check.sh, or another order: ${listed//$'\n'/ }"

for file in src/*.?pp; do
  [ -e "$file" ] && report "$file" 0 'is in no module'
done

# normal FILE PATH: resolves the dots of PATH, relative to the folder of FILE if PATH begins with a
# dot
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
    [[ $file =~ $mpi_places ]] || report "$file" "$line" 'includes <mpi.h>; only the mpi engine and tutti/mpi.hpp may'
    continue
  fi
  top=${path%%/*}
  module_of "$path"
  target=$module_of
  case $file in
    include/*)
      [ "$path" != "$top" ] && [ -n "$target" ] && [ ! -e "$(dirname "$file")/$path" ] && [ ! -e "include/$path" ] &&
        report "$file" "$line" "is public, but includes src/$path"
      [[ ${file#include/} =~ $shared && $path == @(tutti|lpf)/* && ! $path =~ $shared ]] &&
        report "$file" "$line" "includes <$path>, which is above the headers that all modules share" ;;
    src/*/*)
      module_of "${file#src/}"
      module=$module_of
      [ -n "$module" ] || continue
      [[ $path =~ $shared ]] && continue
      case $path in
        tutti/* | lpf/*)
          [[ $public_modules == *" $module "* || $file =~ $mpi_places ]] ||
            report "$file" "$line" "$module includes the public <$path>"
          continue ;;
      esac
      [ "$path" = "$top" ] && continue  # <vector>, or a file of the same folder
      [ -n "$target" ] || continue  # a folder of another library, or of the module
      [ -e "$(dirname "$file")/$path" ] && continue  # a folder of the module
      [[ ${allowed[$module]} == *" $target "* || ${allowed[$module]} == *" $path "* ]] ||
        report "$file" "$line" "$module includes $path, which it may not" ;;
  esac
done < <(grep -rnE --include='*.cpp' --include='*.hpp' --include='*.h' --include='*.c' '^[[:space:]]*#[[:space:]]*include' \
  "${places[@]}" 2>/dev/null)

if [ $bad = 0 ]; then
  echo 'layers: every module includes only modules below it'
else
  echo 'layers: the table at the head of tests/layers/check.sh lists what each module may include'
fi
exit $bad
