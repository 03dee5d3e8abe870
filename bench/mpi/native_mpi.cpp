// SPDX-License-Identifier: Apache-2.0
//
// Measures the native collectives of an MPI with the protocol that also measures tutti's. It is
// compiled once for each MPI. The protocol's own calls go directly to MPI's library. So when
// bench/preload_gain starts this program with an interposed library, only the measured calls
// change.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>

#include "protocol.hpp"

namespace {

#if defined(OPEN_MPI)
constexpr std::string_view engine = "openmpi";
#elif defined(MPICH_VERSION)
constexpr std::string_view engine = "mpich";
#else
constexpr std::string_view engine = "mpi";
#endif

// Returns MPI's own function, even if another library interposes it.
template <class Function>
Function* in_mpi(const char* name) {
  Dl_info of_mpi{};  // looked up by a function that no library replaces
  void* const one = dlsym(RTLD_DEFAULT, "MPI_Get_version");
  void* const library =
      dladdr(one, &of_mpi) != 0 ? dlopen(of_mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) throw std::runtime_error(std::string("MPI's library has no ") + name);
  return reinterpret_cast<Function*>(found);
}

class native {
 public:
  native() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  void barrier() const { mpi_barrier_(MPI_COMM_WORLD); }
  [[nodiscard]] double max(double mine) const {
    double largest = 0;
    mpi_allreduce_(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }

  // Errors need no handling: by default MPI ends the job with a message.
  template <class Measure>
  bool with(bench::collective which, const bench::buffers& b, Measure&& measure) const {
    const int count = static_cast<int>(b.count);
    const int block = static_cast<int>(b.block);
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_DOUBLE;
    double* const in = b.in;
    double* const out = b.out;
    using enum bench::collective;
    switch (which) {
      case barrier:
        measure([=] { MPI_Barrier(comm); });
        return true;
      case bcast:
        measure([=] { MPI_Bcast(in, count, type, 0, comm); });
        return true;
      case reduce:
        measure([=] { MPI_Reduce(in, out, count, type, MPI_SUM, 0, comm); });
        return true;
      case allreduce:
        measure([=] { MPI_Allreduce(in, out, count, type, MPI_SUM, comm); });
        return true;
      case gather:
        measure([=] { MPI_Gather(in, block, type, out, block, type, 0, comm); });
        return true;
      case scatter:
        measure([=] { MPI_Scatter(in, block, type, out, block, type, 0, comm); });
        return true;
      case allgather:
        measure([=] { MPI_Allgather(in, block, type, out, block, type, comm); });
        return true;
      case alltoall:
        measure([=] { MPI_Alltoall(in, block, type, out, block, type, comm); });
        return true;
      case scan:
        measure([=] { MPI_Scan(in, out, count, type, MPI_SUM, comm); });
        return true;
      case exscan:  // tutti sets the result of rank 0, and so do most programs; MPI does not
        measure([=, first = rank_ == 0] {
          MPI_Exscan(in, out, count, type, MPI_SUM, comm);
          if (first) std::fill_n(out, count, 0.0);
        });
        return true;
      case reduce_scatter: {
        const std::vector<int> counts(static_cast<std::size_t>(size_), block);
        const int* const each = counts.data();
        measure([=] { MPI_Reduce_scatter(in, out, each, type, MPI_SUM, comm); });
        return true;
      }
      case bcast_barrier:
        measure([=] {
          MPI_Bcast(in, count, type, 0, comm);
          MPI_Barrier(comm);
        });
        return true;
      case reduce_scatter_block:
        measure([=] { MPI_Reduce_scatter_block(in, out, block, type, MPI_SUM, comm); });
        return true;
    }
    return false;
  }

  static double* allocate_shared(std::size_t bytes) {
    double* memory = nullptr;
    return MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &memory) == MPI_SUCCESS ? memory
                                                                                              : nullptr;
  }
  static void free_shared(double* memory) { MPI_Free_mem(memory); }

 private:
  int rank_ = 0;
  int size_ = 1;
  decltype(&MPI_Barrier) mpi_barrier_ = in_mpi<decltype(MPI_Barrier)>("MPI_Barrier");
  decltype(&MPI_Allreduce) mpi_allreduce_ = in_mpi<decltype(MPI_Allreduce)>("MPI_Allreduce");
};

}  // namespace

int main(int argc, char** argv) {
  const auto options =
      bench::parse(argc, argv, "Measures the native collectives of an MPI; start it with that MPI's mpirun.");
  MPI_Init(&argc, &argv);
  native side;
  const bool good = bench::run(side, engine, options, std::cout);
  MPI_Finalize();
  return good ? 0 : 1;
}
