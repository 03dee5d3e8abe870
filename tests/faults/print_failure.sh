# SPDX-License-Identifier: Apache-2.0
#
# Sourced by scripts that judge one command. print_failure WHY OUTPUT COMMAND...: prints why the
# test failed, the output of the command, and the shell command that runs the test again.
print_failure() {
  echo "FAILED: $1:"
  echo "$2"
  shift 2
  printf 'again:'
  compgen -e | grep -E '^TUTTI_|SAN_OPTIONS$' | while IFS= read -r name; do printf ' %s=%q' "$name" "${!name}"; done
  printf ' %q' "$@"
  echo
}
