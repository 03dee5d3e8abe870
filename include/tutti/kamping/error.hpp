// SPDX-License-Identifier: Apache-2.0
//
// The exception type of KaMPIng programs. Every error of the library gets this name, with the MPI
// error code of the same meaning.
#pragma once

#include "tutti/mpi.hpp"

namespace kamping {

/// Any failure of a call. what() is the text of the library (tutti/error.hpp). The code
/// distinguishes usage errors and others.
class MpiErrorException : public tutti::error {
 public:
  explicit MpiErrorException(const tutti::error& e) : error(e), code_(code_of(e)) {}
  MpiErrorException(std::string_view message, int mpi_error_code)
      : error("MPI", -1, "", message, ""), code_(mpi_error_code) {}

  int mpi_error_code() const noexcept { return code_; }  ///< such as MPI_ERR_TRUNCATE
  int mpi_error_class() const {
    int found = MPI_ERR_UNKNOWN;
    MPI_Error_class(code_, &found);
    return found;
  }

 private:
  static int code_of(const tutti::error& e) {
    if (dynamic_cast<const tutti::truncation_error*>(&e) != nullptr) return MPI_ERR_TRUNCATE;
    if (dynamic_cast<const tutti::usage_error*>(&e) == nullptr) return MPI_ERR_OTHER;
    const std::string_view name = e.parameter();
    if (name == "root") return MPI_ERR_ROOT;
    if (name == "source" || name == "destination") return MPI_ERR_RANK;
    if (name.ends_with("tag")) return MPI_ERR_TAG;
    if (name.find("count") != name.npos) return MPI_ERR_COUNT;
    if (name.ends_with("buf")) return MPI_ERR_BUFFER;
    return MPI_ERR_ARG;
  }

  int code_;
};

namespace internal {

/// Runs f, and translates its errors to KaMPIng's type.
template <class F>
decltype(auto) translating(F&& f) {
  try {
    return f();
  } catch (const MpiErrorException&) {
    throw;
  } catch (const tutti::error& e) {
    throw MpiErrorException(e);
  }
}

/// For the few calls that go to MPI itself.
inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw MpiErrorException(call, code);
}

}  // namespace internal
}  // namespace kamping
