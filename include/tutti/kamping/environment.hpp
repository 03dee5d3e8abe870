// SPDX-License-Identifier: Apache-2.0
//
// Where MPI begins and ends, and what tutti knows of an MPI communicator.
//
// The latter is kept where it belongs, at the communicator itself, as an attribute of MPI's: so that to wrap
// the same communicator again is local, and so that it goes when the communicator does.
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

/// The key of the attribute, made once a process: over MPI that is once a rank.
inline int adopted_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_adopted, &made, nullptr),
              "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

/// Run by MPI_Finalize before anything else, while MPI can still be called.
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

/// Who calls MPI_Init and MPI_Finalize.
enum class InitMPIMode {
  InitFinalize,            ///< the constructor and the destructor
  NoInitFinalize,          ///< the program itself
  InitFinalizeIfNecessary  ///< the constructor where nobody has yet, and then the destructor
};

/// MPI from construction to destruction. Collective over all ranks of the job; costs MPI_Init, and the
/// adoption of MPI_COMM_WORLD, so that a Communicator of the world is made locally from then on.
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
  /// Collective. The destructor then does nothing. Communicators that still are may be destroyed later.
  void finalize() const { internal::check_mpi(MPI_Finalize(), "MPI_Finalize"); }

  static double wtime() { return MPI_Wtime(); }  ///< seconds since some point in the past
  static double wtick() { return MPI_Wtick(); }  ///< seconds between two ticks of wtime()
  /// The greatest tag that MPI allows. tutti promises 32767 on every engine.
  static int tag_upper_bound() {
    void* bound = nullptr;
    int found = 0;
    internal::check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found), "MPI_Comm_get_attr");
    return found != 0 ? *static_cast<int*>(bound) : 32767;
  }
  static bool is_valid_tag(int tag) { return tag >= 0 && tag <= tag_upper_bound(); }

  /// For MPI_Bsend of the program's own. tutti's buffered sends keep their copies themselves and need none.
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
  static bool flag(int (*ask)(int*), const char* call) {
    int answer = 0;
    internal::check_mpi(ask(&answer), call);
    return answer != 0;
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

/// What an environment says, without being one: it neither begins nor ends MPI.
inline const Environment<InitMPIMode::NoInitFinalize> mpi_env;

}  // namespace kamping
