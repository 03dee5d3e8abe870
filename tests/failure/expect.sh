#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# expect.sh TEXT COMMAND...: passes when COMMAND ends by itself with a status that is not 0, prints TEXT, and dumps no core.
set -u
text=$1
shift
said=$(timeout -k 5 60 "$@" 2>&1)
status=$?
case $said in
  *"core dumped"* | *"Segmentation fault"* | *"signal 11"*) echo "it crashed:"; echo "$said"; exit 1 ;;
esac
if [ $status = 0 ]; then echo "it ended with 0:"; echo "$said"; exit 1; fi
if [ $status = 124 ] || [ $status = 137 ]; then echo "it hung:"; echo "$said"; exit 1; fi
case $said in
  *"$text"*) exit 0 ;;
  *) echo "it did not say \"$text\":"; echo "$said"; exit 1 ;;
esac
