// SPDX-License-Identifier: Apache-2.0
//
// Where a program begins: run() makes the ranks, calls the program on each, and tells how it ended.
//
// The same binary runs as threads or fibers of one process (TUTTI_RANKS=8 ./program) and under mpirun, one
// rank a process.
//
// ```cpp
// #include <cstdio>
// #include <tutti/tutti.hpp>
//
// int main(int argc, char** argv) {
//   return tutti::run(argc, argv, [](tutti::communicator& world) {
//     using namespace tutti;
//     int sum = world.allreduce_single(send_buf(world.rank()), op(std::plus<>{}));
//     if (world.is_root()) std::printf("%d ranks, sum %d\n", world.size(), sum);
//   });
// }
// ```
#pragma once

#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include "tutti/core/error.hpp"

namespace tutti {

class communicator;

/// What run() would otherwise take from the environment. Empty or zero fields mean: as the variable says,
/// else the default.
struct run_options {
  /// "threads", "fibers" or "mpi"; TUTTI_ENGINE. Default: mpi under an MPI launcher, fibers for more ranks
  /// than cores or with a seed, else threads.
  std::string_view engine;
  /// 1 .. 1000000 (threads: 4096); TUTTI_RANKS, else one for each core. Under mpirun the launcher decides.
  int ranks = 0;
  int workers = 0;         ///< threads under the fibers, 1 .. 4096; TUTTI_WORKERS, else one for each core
  std::uint64_t seed = 0;  ///< fibers: not 0 makes one worker, and an order that repeats; TUTTI_SEED
  /// Of a rank that is a fiber or a thread; TUTTI_STACK (32 KiB .. 1 GiB), else 1 MiB a fiber, and
  /// of a thread what the system gives.
  std::size_t stack_bytes = 0;
  int argc = 0;  ///< main's, for MPI_Init
  char** argv = nullptr;
  /// Where the headers were that the program was compiled with: engine modules stand beside an installation.
  const char* header = __FILE__;
};

namespace detail {

/// Refers to any callable that takes a communicator&, while run() lasts. What it returns is dropped.
class program_view {
 public:
  template <class Program>
  requires(!std::is_same_v<std::remove_cvref_t<Program>, program_view>) program_view(Program&& program)
  noexcept {
    using callable = std::remove_reference_t<Program>;
    if constexpr (std::is_function_v<callable>)
      object_ = reinterpret_cast<void*>(&program);
    else
      object_ = const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(program)));
    call_ = [](void* object, communicator& world) {
      if constexpr (std::is_function_v<callable>)
        reinterpret_cast<callable*>(object)(world);
      else
        (*static_cast<callable*>(object))(world);
    };
  }
  void operator()(communicator& world) const { call_(object_, world); }

 private:
  void* object_;
  void (*call_)(void*, communicator&);
};

}  // namespace detail

/// What the second form of run() throws when a rank threw. The exception itself is nested in it
/// (std::rethrow_if_nested) where it was thrown in this process.
class rank_error : public error {
 public:
  /// For the library: `text` is what the rank threw.
  rank_error(int rank, std::string_view text) : error("run", rank, "", text, ""), failed_rank_(rank) {}
  /// The rank that failed first, 0 .. size - 1.
  int failed_rank() const noexcept { return failed_rank_; }

 private:
  int failed_rank_;
};

/// Calls `program` on every rank, and returns when all have returned.
///
/// In one process the ranks share what `program` captures, and `program` is called by many threads or fibers
/// at once; under mpirun each process is one rank. Code before and after run() runs once a process.
///
/// Returns 0 when every rank returned; 1 when one threw: the others are taken out of their waits (they see
/// peer_error), and the first failure is printed on standard error with its rank; over MPI ranks that have
/// not come to the end within two seconds are ended by MPI_Abort. 2 when the ranks could not be made (an
/// engine that does not exist, TUTTI_RANKS=0, an MPI job without its module), which is printed too. Throws
/// nothing of the library's.
int run(const run_options& options, detail::program_view program, std::nothrow_t);
inline int run(int argc, char** argv, detail::program_view program) {
  run_options options;
  options.argc = argc;
  options.argv = argv;
  return run(options, program, std::nothrow);
}

/// The same for programs that want the exception: throws rank_error when a rank threw, usage_error or
/// engine_error when the ranks could not be made.
///
/// ```cpp
/// #include <stdexcept>
/// #include <tutti/tutti.hpp>
///
/// int main() {
///   tutti::run_options options;
///   options.engine = "fibers";
///   options.ranks = 100;
///   options.seed = 42;  // the same interleaving every time
///   try {
///     tutti::run(options, [](tutti::communicator& world) {
///       if (world.rank() == 3) throw std::runtime_error("no luck");
///       world.barrier();
///     });
///   } catch (const tutti::rank_error& e) {
///     return e.failed_rank() == 3 ? 0 : 1;
///   }
///   return 1;
/// }
/// ```
void run(const run_options& options, detail::program_view program);

}  // namespace tutti
