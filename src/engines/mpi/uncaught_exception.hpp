// SPDX-License-Identifier: Apache-2.0
//
// The exception that unwinds the program of a rank, while no handler has caught it yet. A
// destructor that must end the job reports its text. The C++ language does not offer it there:
// std::current_exception() finds only exceptions that a handler has caught.
//
// The C++ runtime searches for the handler before it runs any destructor (Itanium C++ ABI, 1.6). It
// asks the type of each catch clause, from the innermost to the outermost, whether it matches. The
// type of this file never matches, and remembers the exception. It sees only exceptions that no
// handler of the program catches.
#pragma once

namespace tutti::mpi {

/// `catch (const uncaught_probe&) { throw; }` catches nothing. It is the first clause of the try
/// block that runs the program.
class uncaught_probe {
 public:
  // Not defined, so that no compiler defines std::type_info of this class either.
  virtual void key() const;
};

struct uncaught_exception {
  const char* text = nullptr;  ///< null: there is none; valid until the exception is caught
  bool is_peer_error = false;
};

/// The exception that unwinds the calling thread, if an uncaught_probe has seen it. The handler
/// beside the probe assigns an empty one.
uncaught_exception& current_uncaught_exception() noexcept;

}  // namespace tutti::mpi
