#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# doxygen.sh DOXYGEN FOLDER, run at the root of the tree: makes the reference in FOLDER. Fails if
# doxygen warns, for example about a public name without a comment.
mkdir -p "$2" || exit 2
messages=$({ cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = $2"; } | "$1" - 2>&1) || { echo "$messages"; exit 1; }
[ -z "$messages" ] || { echo "$messages"; exit 1; }
[ -e "$2/html/classtutti_1_1communicator.html" ] || { echo "there is no page of communicator"; exit 1; }
