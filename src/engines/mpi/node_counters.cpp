// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_counters.hpp"

#include <array>
#include <cstdio>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tutti::mpi {
namespace {

using object_name = std::array<char, 64>;

// A new object has zeros. Returns -1, and an empty name, if there is no shared memory.
int create(object_name& name, std::size_t bytes) {
  std::random_device random;
  std::snprintf(name.data(), name.size(), "/tutti-%d-%08x%08x", static_cast<int>(getpid()), random(),
                random());
  const int file = shm_open(name.data(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) {
    close(file);
    shm_unlink(name.data());
  }
  name[0] = '\0';
  return -1;
}

}  // namespace

void node_counters::open(MPI_Comm node) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(node, &rank), "run", -1);
  check(MPI_Comm_size(node, &size), "run", rank);
  if (size == 1) return;
  ranks_ = size;
  bytes_ = sizeof(line) * (static_cast<std::size_t>(size) + 1);
  object_name name{};
  int file = rank == 0 ? create(name, bytes_) : -1;
  check(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node), "run", rank);
  if (rank != 0 && name[0] != '\0') file = shm_open(name.data(), O_RDWR, 0);
  void* const memory =
      file < 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory != MAP_FAILED) memory_ = static_cast<line*>(memory);
  int mapped = memory_ != nullptr, all_mapped = 0;
  const int code = MPI_Allreduce(&mapped, &all_mapped, 1, MPI_INT, MPI_MIN, node);
  // Every rank has the memory open, or none needs it.
  if (rank == 0 && name[0] != '\0') shm_unlink(name.data());
  check(code, "run", rank);
  if (all_mapped != 0 || memory_ == nullptr) return;
  munmap(memory_, bytes_);
  memory_ = nullptr;
}

node_counters::~node_counters() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace tutti::mpi
