// SPDX-License-Identifier: Apache-2.0
//
// Initialization and finalization of MPI, and the association of tutti communicators with MPI
// communicators.
//
// The association is an MPI attribute of the communicator. Thus a second wrap of the same
// communicator is local, and the association ends with the communicator.
#pragma once

#include <cstddef>
#include <span>

#include "tutti/kamping/error.hpp"

namespace kamping {
namespace internal {

inline int forget_adopted(MPI_Comm, int, void* value, void*) {
  delete static_cast<tutti::communicator*>(value);
  return MPI_SUCCESS;
}

/// The key of the attribute, created once per process, which is once per rank over MPI.
inline int adopted_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_adopted, &made, nullptr),
              "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

/// MPI_Finalize runs it first, while MPI can still be called.
inline int before_finalize(MPI_Comm, int, void*, void*) {
  return MPI_Comm_delete_attr(MPI_COMM_WORLD, adopted_key());
}
inline void at_finalize() {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_finalize, &key, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
}

/// tutti's communicator over `comm`. Collective the first time, and local from then on.
inline tutti::communicator& adopted(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, adopted_key(), &value, &found), "MPI_Comm_get_attr");
  if (found == 0) {
    auto made = new tutti::communicator(
        translating([&] { return tutti::adopt(comm, tutti::messages_on::original); }));
    value = made;
    if (comm == MPI_COMM_WORLD) at_finalize();
    check_mpi(MPI_Comm_set_attr(comm, adopted_key(), value), "MPI_Comm_set_attr");
  }
  return *static_cast<tutti::communicator*>(value);
}

}  // namespace internal

/// Which code calls MPI_Init and MPI_Finalize.
enum class InitMPIMode {
  InitFinalize,            ///< the constructor and the destructor
  NoInitFinalize,          ///< the program itself
  InitFinalizeIfNecessary  ///< the constructor if nothing else has, and then the destructor
};

/// The lifetime of MPI. Collective over all ranks of the job. Costs MPI_Init, and the adoption of
/// MPI_COMM_WORLD; a Communicator of the world is then local.
template <InitMPIMode Mode = InitMPIMode::InitFinalize>
class Environment {
 public:
  Environment() { begin(nullptr, nullptr); }
  Environment(int& argc, char**& argv) { begin(&argc, &argv); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (finalizes_ && initialized() && !finalized()) MPI_Finalize();
  }

  bool initialized() const { return flag(&MPI_Initialized, "MPI_Initialized"); }
  bool finalized() const { return flag(&MPI_Finalized, "MPI_Finalized"); }
  /// Collective. The destructor then does nothing. Existing Communicators may be destroyed later.
  void finalize() const { internal::check_mpi(MPI_Finalize(), "MPI_Finalize"); }

  static double wtime() { return MPI_Wtime(); }  ///< seconds since some point in the past
  static double wtick() { return MPI_Wtick(); }  ///< seconds between two ticks of wtime()
  /// The maximal tag that MPI allows. tutti guarantees 32767 on every engine.
  static int tag_upper_bound() {
    void* bound = nullptr;
    int found = 0;
    internal::check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found), "MPI_Comm_get_attr");
    return found != 0 ? *static_cast<int*>(bound) : 32767;
  }
  static bool is_valid_tag(int tag) { return tag >= 0 && tag <= tag_upper_bound(); }

  /// For the program's own MPI_Bsend. tutti's buffered sends keep their own copies and do not need
  /// it.
  static constexpr std::size_t bsend_overhead = MPI_BSEND_OVERHEAD;
  template <class T>
  void buffer_attach(std::span<T> buffer) const {
    internal::check_mpi(MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size_bytes())),
                        "MPI_Buffer_attach");
  }
  template <class T>
  std::span<T> buffer_detach() const {
    void* data = nullptr;
    int bytes = 0;
    internal::check_mpi(MPI_Buffer_detach(&data, &bytes), "MPI_Buffer_detach");
    return {static_cast<T*>(data), static_cast<std::size_t>(bytes) / sizeof(T)};
  }

 private:
  static bool flag(int (*query)(int*), const char* call) {
    int result = 0;
    internal::check_mpi(query(&result), call);
    return result != 0;
  }
  void begin(int* argc, char*** argv) {
    if constexpr (Mode == InitMPIMode::NoInitFinalize) return;
    if (Mode == InitMPIMode::InitFinalizeIfNecessary && initialized()) return;
    internal::check_mpi(MPI_Init(argc, argv), "MPI_Init");
    finalizes_ = true;
    internal::adopted(MPI_COMM_WORLD);
  }

  bool finalizes_ = false;
};

/// The queries of an environment; it neither initializes nor finalizes MPI.
inline const Environment<InitMPIMode::NoInitFinalize> mpi_env;

}  // namespace kamping
