// SPDX-License-Identifier: Apache-2.0
//
// The preload library sees at MPI_Init that the program imports MPI_Alloc_mem: then its memory is
// that which other processes can map.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* memory = NULL;
  MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory);
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  int found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    uintmax_t begin = 0, end = 0;
    if (sscanf(line, "%jx-%jx", &begin, &end) == 2 && begin <= (uintptr_t)memory && (uintptr_t)memory < end)
      found = strstr(line, "memfd:tutti-arena") != NULL;
  }
  MPI_Free_mem(memory);
  MPI_Finalize();
  if (!found) fprintf(stderr, "FAILED the memory of MPI_Alloc_mem cannot be mapped by others\n");
  return found ? 0 : 1;
}
