#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# hpcc.sh FOLDER: runs one rank of HPC Challenge in its folder, for 4 ranks. Rank 0 prints the
# results of the benchmark's own verification without parts that differ between runs. It fails if
# the verification fails.
set -u
folder=$1
cd "$folder" || exit 2
[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" = 0 ] || exec hpcc
rm -f hpccoutf.txt
hpcc || exit 1
[ -e hpccoutf.txt ] || { echo 'hpcc wrote nothing'; exit 1; }
# It prints a line of CPU times only if these are not 0.
sed -nE 's/^WALL +([0-9 ]+)  .*(PASSED|FAILED).*/PTRANS \1 \2/p
  s/^\|\|Ax-b\|\|.*(PASSED|FAILED).*/HPL \1/p
  /^Found .* errors|^Node\(s\) with error|tests completed and|Solution Validates|_Errors=|^Success=/p' hpccoutf.txt
awk -F= '
  /^Success=/ { succeeded = $2 == 1 }
  /_Errors=/ { ++looked; if ($2 != 0) bad = 1 }
  /^(MPIFFT_maxErr|PTRANS_residual)=/ { ++looked; if (!($2 < 1e-9)) bad = 1 }
  /FAILED/ { bad = 1 }
  END { if (!succeeded || bad || looked < 4) { print "hpcc: its verification fails"; exit 1 } }' hpccoutf.txt
