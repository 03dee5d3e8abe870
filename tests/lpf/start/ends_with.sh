#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ends_with.sh CODE COMMAND ... : fails unless the command ends with that code; "any" stands for
# every non-zero code.
wanted=$1
shift
"$@"
code=$?
case $wanted in
  any) [ $code -ne 0 ] ;;
  *) [ $code -eq "$wanted" ] ;;
esac || { echo "FAILED: ended with $code, should be $wanted"; exit 1; }
