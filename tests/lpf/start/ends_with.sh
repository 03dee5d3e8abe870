#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ends_with.sh CODE COMMAND ...  fails where the command does not end with that code; any: with another than 0
wanted=$1
shift
"$@"
code=$?
case $wanted in
  any) [ $code -ne 0 ] ;;
  *) [ $code -eq "$wanted" ] ;;
esac || { echo "FAILED: ended with $code, should be $wanted"; exit 1; }
