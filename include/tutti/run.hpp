// SPDX-License-Identifier: Apache-2.0
//
// The start of a program: run() creates the ranks, calls the program on each, and returns how it
// ended.
//
// The same binary runs as threads or fibers of one process (TUTTI_RANKS=8 ./program) and under
// mpirun, with one rank per process.
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

#include "tutti/detail/export.hpp"
#include "tutti/error.hpp"

TUTTI_API_BEGIN
namespace tutti {

class communicator;

/// Settings that run() otherwise takes from the environment. An empty or zero field means the value
/// of the variable, else the default.
struct run_options {
  /// "threads", "fibers" or "mpi"; TUTTI_ENGINE. Default: mpi under an MPI launcher; fibers for
  /// more ranks than cores or with a seed; else threads.
  std::string_view engine;
  /// 1 .. 1000000 (threads: 4096); TUTTI_RANKS, else one per core. Under mpirun the launcher
  /// determines it.
  int ranks = 0;
  int workers = 0;         ///< worker threads, 1 .. 4096; TUTTI_WORKERS, else 1 per core
  std::uint64_t seed = 0;  ///< fibers: not 0: one worker, repeatable order; TUTTI_SEED
  /// The stack size of a rank that is a fiber or a thread; TUTTI_STACK (32 KiB .. 1 GiB). Default:
  /// 1 MiB per fiber, and the system's default per thread.
  std::size_t stack_bytes = 0;
  int argc = 0;  ///< main's, for MPI_Init
  char** argv = nullptr;
  /// The path of the headers that the program was compiled with: an installation keeps its engine
  /// modules beside them.
  const char* header = __FILE__;
};

namespace detail {

/// Refers to any callable that takes a communicator&, while run() lasts. The result of the callable
/// is discarded.
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

/// The exception of the second form of run() if a rank threw. If the original exception was thrown
/// in this process, it is nested (std::rethrow_if_nested).
class rank_error : public error {
 public:
  /// For the library: `text` describes the exception of the rank.
  rank_error(int rank, std::string_view text) : error("run", rank, "", text, ""), failed_rank_(rank) {}
  /// The rank that failed first, 0 .. size - 1.
  int failed_rank() const noexcept { return failed_rank_; }

 private:
  int failed_rank_;
};

/// Calls `program` on every rank, and returns when all have returned.
///
/// In one process the ranks share what `program` captures, and many threads or fibers call
/// `program` concurrently. Under mpirun each process is one rank. Code before and after run() runs
/// once per process.
///
/// Returns:
/// - 0 if every rank returned.
/// - 1 if one threw. The other ranks leave their waits with peer_error, and the first failure is
///   printed on standard error with its rank. Over MPI, MPI_Abort ends the ranks that have not
///   returned within two seconds.
/// - 2 if the ranks could not be created, which is printed too. Examples are an engine that does
///   not exist, TUTTI_RANKS=0, and an MPI job without its module.
///
/// Throws no exception of the library.
int run(const run_options& options, detail::program_view program, std::nothrow_t);
inline int run(int argc, char** argv, detail::program_view program) {
  run_options options;
  options.argc = argc;
  options.argv = argv;
  return run(options, program, std::nothrow);
}

/// The same for programs that handle the exception. Throws rank_error if a rank threw, and
/// usage_error or engine_error if the ranks could not be created.
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
TUTTI_API_END
