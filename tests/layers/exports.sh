#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# exports.sh ROOT LIBRARY...   fails if a library makes a name visible that is not public
# exports.sh --self-test       makes libraries with such names, and fails if they are not detected
#
# A shared library (.so) shows what it exports, a static one (.a) its symbols of default visibility.
# They may be names that
# - a header of ROOT/include declares between TUTTI_API_BEGIN and TUTTI_API_END,
# - a line of ROOT/src marks with TUTTI_API, or members of a class that it marks.
# The preload library exports names of MPI only. A static library may also have templates of the
# C++ library, whose visibility is default, and type information of function types. With
# INTERNALS=ON in the environment, the libraries are built for tests and may show all names in
# tutti.
set -u
export LC_ALL=C

# symbols LIBRARY: the visible symbols that the library defines
symbols() {
  case $1 in
    *.so | *.so.*) nm -D --defined-only -- "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' ;;
    *) readelf -sW -- "$1" |
      awk '($5 == "GLOBAL" || $5 == "WEAK" || $5 == "UNIQUE") && $6 == "DEFAULT" && $7 != "UND" { print $8 }' ;;
  esac | sort -u
}

# declared ROOT: lines "any FILE WORD" for the words of each file, "public FILE WORD" for those that
# may be visible, and "space FILE WORD" for the names of namespaces
declared() {
  find "$1/include" "$1/src" -name '*.[hc]pp' -o -name '*.h' | sort | xargs awk '
    FNR == 1 { region = 0; body = 0; in_include = FILENAME ~ /\/include\// }
    { line = $0; sub(/\/\/.*/, "", line) }
    line ~ /^ *\/?\*/ || line ~ /^ *#/ { next }
    line ~ /TUTTI_API_BEGIN/ { region = 1 }
    line ~ /TUTTI_API_END/ { region = 0 }
    line ~ /^class TUTTI_API/ { body = 1 }
    {
      visible = (in_include && region) || body || line ~ /TUTTI_API[^_]/
      spaces = line ~ /^ *(inline )?namespace /
      while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (spaces) print "space", FILENAME, word
        if (!((FILENAME, word) in any)) { any[FILENAME, word]; print "any", FILENAME, word }
        if (visible && !((FILENAME, word) in public)) { public[FILENAME, word]; print "public", FILENAME, word }
      }
    }
    $0 ~ /^};/ { body = 0 }'
}

# foreign LIBRARY DECLARED: the visible symbols that may not be visible, demangled
foreign() {
  local allowed='^$'
  case ${1##*/} in
    *tutti-preload-*.so) symbols "$1" | grep -vE '^P?MPI_'; return ;;
    *.a) allowed='^_Z(T[A-Z]|GV|Z|GVZ)*(N[VKRO]*)?(S[tabsiod]|9__gnu_cxx|10__cxxabiv1)|^_ZT[IS]P*F|^_Zn[wa]mPv$|^_Zd[la]PvS_$' ;;
  esac
  symbols "$1" | grep -vE "$allowed" > "$scratch/mangled"
  c++filt -p < "$scratch/mangled" | awk -v internals="${INTERNALS-}" '
    NR == FNR {
      if ($1 == "any") any[$2, $3]
      else if ($1 == "space") space[$3]
      else files[$3] = files[$3] " " $2
      next
    }
    {
      name = $0
      # "vtable for X" and "guard variable for X" have the rule of X.
      sub(/^.* for /, "", name)
      gsub(/\[abi:[a-z0-9]*\]/, "", name)
      sub(/::operator.*/, "::operator", name)
      gsub(/\{[^}]*\}|#[0-9]+/, "", name)
      # Without arguments of functions and templates. What is nested goes first.
      while (gsub(/\([^()]*\)( const)?|<[^<>]*>/, "", name)) {}
      count = split(name, part, /::~?/)
      if (count > 1 && part[1] != "tutti") { print; next }
      if (count > 1 && internals == "ON") next
      last = count
      while (last > 1 && part[last] == "") --last
      found = 0
      candidates = files[part[last]]
      if (last > 2 && !(part[last - 1] in space)) candidates = candidates " " files[part[last - 1]]
      candidates = split(candidates, file, " ")
      for (f = 1; f <= candidates && !found; ++f) {
        found = 1
        for (i = 1; i <= last; ++i)
          if (part[i] != "" && !((file[f], part[i]) in any)) found = 0
      }
      if (!found) print
    }' "$2" -
}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

if [ "${1-}" = --self-test ]; then
  failed=0
  tree=$scratch/tree
  mkdir -p "$tree/include/tutti" "$tree/include/lpf" "$tree/src"
  cat > "$tree/include/tutti/run.hpp" <<< '
#define TUTTI_API_BEGIN _Pragma("GCC visibility push(default)")
#define TUTTI_API_END _Pragma("GCC visibility pop")
#define TUTTI_API __attribute__((visibility("default")))
namespace tutti { void hidden(); }
TUTTI_API_BEGIN
namespace tutti {
int run(int);
struct error { virtual ~error(); };
template <class T> T twice(T x) { return x + x; }
}
extern "C" int lpf_exec(int);
TUTTI_API_END'
  cat > "$tree/src/engine.hpp" <<< '
#include "tutti/run.hpp"
namespace tutti::detail {
TUTTI_API int find_engine();
int find_tree();
class TUTTI_API job {
 public:
  int result();
};
}'
  # expect STATUS WHAT CODE [LIBRARY...]: checks a shared and a static library of that code, or
  # only these
  expect() {
    local status=$1 what=$2 library
    printf '#include "engine.hpp"\n%s\n' "$3" > "$scratch/one.cpp"
    shift 3
    "${CXX:-c++}" -std=c++20 -fPIC -O0 -fvisibility=hidden -I"$tree/include" -I"$tree/src" \
      -c "$scratch/one.cpp" -o "$scratch/one.o" || exit 2
    [ $# -gt 0 ] || set -- libone.so libone.a
    for library in "$@"; do
      rm -f "$scratch/$library"
      case $library in
        *.a) ar rc "$scratch/$library" "$scratch/one.o" ;;
        *) "${CXX:-c++}" -shared "$scratch/one.o" -Wl,--no-undefined-version -Wl,--version-script="$root/cmake/exports.map" \
          -o "$scratch/$library" ;;
      esac || exit 2
      bash "$self" "$tree" "$scratch/$library" > "$scratch/output" 2>&1
      [ $? -eq "$status" ] || { echo "self-test: $what should give $status ($library):"; cat "$scratch/output"; failed=1; }
    done
  }
  self=$(realpath "$0")
  root=$(realpath "$(dirname "$self")/../..")
  visible='__attribute__((visibility("default")))'
  expect 0 'public names' 'int tutti::run(int x) { return twice(x); } tutti::error::~error() {} int lpf_exec(int x) { return x; }'
  expect 0 'names for other libraries' 'int tutti::detail::find_engine() { return 1; } int tutti::detail::job::result() { return 1; }'
  expect 0 'hidden names' 'void tutti::hidden() {} int tutti::detail::find_tree() { return 1; } namespace nlohmann { int parse() { return 1; } }
int tutti::run(int x) { return x; }'
  expect 0 'templates of the C++ library' '#include <vector>
int tutti::run(int x) { return std::vector<int>(1, x)[0]; }'
  expect 1 'a public function that is not declared' "namespace tutti { $visible int walk() { return 1; } }"
  expect 1 'a declared function without the macros' "namespace tutti { $visible void hidden() {} }"
  expect 1 'an internal function' "namespace tutti::detail { $visible int find_tree() { return 1; } }"
  expect 1 'an internal class' "namespace tutti::detail { struct $visible tree { virtual ~tree(); }; tree::~tree() {} }"
  expect 1 'a class of another library' "namespace nlohmann { struct $visible json { virtual ~json(); }; json::~json() {} }" libone.a
  expect 1 'an undeclared function of C' "extern \"C\" $visible int lpf_walk() { return 1; }"
  expect 1 'names of tutti in a preload library' 'int tutti::run(int x) { return x; }' libtutti-preload-one.so
  [ $failed = 0 ] && echo 'exports: the check detects all errors'
  exit $failed
fi

root=${1:?usage: exports.sh ROOT LIBRARY... | --self-test}
shift
declared "$root" > "$scratch/declared"
bad=0
for library in "$@"; do
  [ -s "$library" ] || { echo "$library: does not exist"; bad=1; continue; }
  [ -n "$(symbols "$library")" ] || { echo "$library: has no visible symbol"; bad=1; }
  found=$(foreign "$library" "$scratch/declared")
  [ -z "$found" ] || { echo "$library: shows names that are not public:"; printf '%s\n' "$found" | sed 's/^/  /'; bad=1; }
done
[ $bad = 0 ] && echo "exports: $# libraries show public names only"
exit $bad
