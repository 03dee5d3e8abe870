#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# search.sh PROGRAM FOREIGN TOOL MPI LAUNCHER...: copies the program to FOLDER/x. It searches
# FOLDER/lib/tutti, which contains foreign code under the name of a module. Cases with files of
# other users need root.
set -u
program=$1 foreign=$2 tool=$3 mpi=$4
shift 4
launcher=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/x" "$folder/lib/tutti"
cp "$program" "$folder/x/program"
cp "$tool" "$folder/x/tutti"
module="$folder/lib/tutti/libtutti-mpi-$mpi.so"
cp "$foreign" "$module"
chmod 755 "$module" "$folder/lib" "$folder/lib/tutti"

failed=0

# job ARGUMENT...: runs a job of the launcher. MPICH's launcher may lose the output of processes
# that exit at once.
job() {
  local output status
  for _ in 1 2 3 4 5; do
    output=$(timeout 60 "${launcher[@]}" "$@" 2>&1)
    status=$?
    [ -z "$output" ] || break
  done
  printf '%s\n' "$output"
  return $status
}
fail() { echo "FAILED $1: $2"; failed=1; }

# refused CASE TEXT: neither the program nor the tool runs the foreign code, and both print the
# reason.
refused() {
  local output status
  output=$(job -n 2 "$folder/x/program" 2>&1)
  status=$?
  [ $status != 0 ] || fail "$1" "the job ended with 0: $output"
  grep -q 'foreign code ran' <<< "$output" && fail "$1" "a rank loaded it: $output"
  grep -qF "$2" <<< "$output" || fail "$1" "no \"$2\" in: $output"
  output=$(timeout 60 "$folder/x/tutti" info 2>&1)
  grep -q 'foreign code ran' <<< "$output" && fail "$1" "tutti info loaded it"
  grep -qF "not loaded: $module" <<< "$output" || fail "$1" "tutti info does not name it: $output"
  timeout 60 "$folder/x/tutti" info --json | grep -q '"not_loaded": \[$' || fail "$1" "tutti info --json does not name it"
}

# Tests the check itself: files of the user are loaded, so the cases below fail for the stated
# reason.
job -n 2 "$folder/x/program" 2>&1 | grep -q 'foreign code ran' || fail own 'a module of the user is not loaded'

chmod 777 "$folder/lib/tutti"
refused folder_for_all 'can be written by other users'
chmod 755 "$folder/lib/tutti"
chmod 666 "$module"
refused module_for_all 'can be written by other users'
chmod 755 "$module"
chmod 777 "$folder/lib"
refused folder_above_for_all 'can be written by other users'
chmod 755 "$folder/lib"
# A FIFO would block the loader. The module may also be a link to one.
mv "$module" "$folder/foreign"
mkfifo "$module" "$folder/fifo"
refused fifo 'is a FIFO'
rm "$module"
ln -s "$folder/fifo" "$module"
refused link_to_fifo 'is a FIFO'
rm "$module"
mv "$folder/foreign" "$module"
if [ "$(id -u)" = 0 ]; then
  chown 4711 "$module"
  refused module_of_others 'belongs to user 4711'
  chown 0 "$module"
  chown 4711 "$folder/lib/tutti"
  refused folder_of_others 'belongs to user 4711'
  chown 0 "$folder/lib/tutti"
  chown 4711 "$folder/lib"
  refused folder_above_of_others 'belongs to user 4711'
  chown 0 "$folder/lib"
  # The owner of the program's folder is not trusted. The owner of the program is trusted, but only
  # for modules in the program's own installation.
  chown 4711 "$folder/x" "$module"
  refused folder_of_the_program 'belongs to user 4711'
  chown 4711 "$folder/x/program" "$folder/x/tutti" "$folder/lib" "$folder/lib/tutti"
  job -n 2 "$folder/x/program" 2>&1 | grep -q 'foreign code ran' || fail owner 'a module of the owner of the program is not loaded'
  mkdir "$folder/elsewhere"
  mv "$module" "$folder/elsewhere"
  output=$(TUTTI_MODULE_PATH="$folder/elsewhere" job -n 2 "$folder/x/program" 2>&1)
  grep -q 'foreign code ran' <<< "$output" && fail owner_elsewhere "a rank loaded it: $output"
  grep -qF 'belongs to user 4711' <<< "$output" || fail owner_elsewhere "it is not named: $output"
  mv "$folder/elsewhere/"* "$module"
  chown 0 "$folder/x" "$folder/x/program" "$folder/x/tutti" "$folder/lib" "$folder/lib/tutti" "$module"
  # A set-user-ID program ignores all variables of the caller that name code.
  if ! findmnt -no OPTIONS -T "$folder" | grep -qw nosuid; then
    mkdir "$folder/named"
    mv "$module" "$folder/named"
    export TUTTI_MODULE_PATH="$folder/named"
    job -n 1 "$folder/x/program" 2>&1 | grep -q 'foreign code ran' || fail named 'TUTTI_MODULE_PATH has no effect'
    chown 4711 "$folder/x/program"
    chmod 4755 "$folder/x/program"
    output=$(job -n 1 "$folder/x/program" 2>&1)
    grep -q 'foreign code ran' <<< "$output" && fail secure 'TUTTI_MODULE_PATH is obeyed'
    grep -qE '^tutti: |^[0-9]+ ranks' <<< "$output" || fail secure "the program did not run: $output"
  else
    echo "not tested: set-user-ID programs, because $folder is mounted with nosuid"
  fi
else
  echo 'not tested: files of other users, because this user is not root'
fi
exit $failed
