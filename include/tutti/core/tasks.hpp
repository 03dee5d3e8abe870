// SPDX-License-Identifier: Apache-2.0
//
// Tasks without types: what the task face (tutti/tasks.hpp) asks of the library. Data are registered, tasks
// that read and write them are inserted; transfers, order and overlap follow (src/tasks).
//
// All functions are called by the rank whose flow it is, from the thread that runs it, and not from kernels.
//
// ```cpp
// tasks::flow* mine = tasks::port::open(world.native(), {});
// int x = world.rank();
// tasks::datum* d = tasks::port::add(*mine, {&x, 4, 1, alignof(int), 0});
// tasks::port::fetch(*mine, d, world.size() - 1);  // from its owner, rank 0
// tasks::port::wait_all(*mine);
// assert(world.rank() != world.size() - 1 || x == 0);
// tasks::port::close(mine, false);
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string_view>
#include <vector>

#include "tutti/core/error.hpp"
#include "tutti/core/mail.hpp"
#include "tutti/core/operation.hpp"
#include "tutti/core/owner.hpp"

namespace tutti::tasks {

/// A kernel has thrown, on this rank or on one whose result is needed here. The text names the task, the rank
/// that ran it, and what was thrown; on that rank the exception itself is nested (std::rethrow_if_nested).
class task_error : public error {
 public:
  using error::error;
};

/// How a runtime works. All ranks give the same, but for workers.
struct options {
  /// Kernels that run at the same time on this rank: the rank's own thread, where it waits, and `workers` - 1
  /// others. 0: TUTTI_TASK_WORKERS, or 1.
  int workers = 0;
  /// Whether copies of data are kept, and not sent again until they are modified.
  bool cache = true;
  /// Bytes of copies that one rank keeps of another's data; beyond, those that were used longest ago go.
  std::size_t cache_bytes = std::size_t{64} << 20;
  /// Tasks and transfers that may be under way on this rank; insert() works off some of them beyond that.
  std::size_t most_pending = 16384;
};

/// What a rank has done in a runtime so far.
struct statistics {
  std::vector<std::uint64_t> bytes_sent;     ///< of data, to each rank of the runtime's communicator
  std::vector<std::uint64_t> messages_sent;  ///< that carried data, to each
  std::uint64_t cache_hits = 0;  ///< reads elsewhere for which this rank sent nothing, since a copy was there
  std::uint64_t tasks_run = 0;   ///< kernels
  double idle_seconds = 0;       ///< that this rank's own thread waited with nothing to run
};

/// How a kernel uses a datum.
enum class use_mode : std::uint8_t { read = 1, write = 2, read_write = 3, reduce = 4 };

/// Of a datum that tasks reduce into. `combine` is of the elements that the datum has.
struct reducer {
  combine_function combine = nullptr;                    ///< has no state
  void (*neutral)(void* into, std::size_t n) = nullptr;  ///< what a contribution begins as; null: the
                                                         ///< kernel's code writes that first
  friend bool operator==(const reducer&, const reducer&) = default;
};

/// One rank's part of a runtime, and what it knows of a datum. Defined in the library.
class flow;
struct datum;

/// One argument of a task.
struct use {
  datum* what = nullptr;  ///< null: an empty handle
  use_mode how = use_mode::read;
  const reducer* by = nullptr;  ///< of reduce; stays as long as the flow
};

/// Memory that a kernel is given for one argument.
struct place {
  void* data;
  std::size_t count;  ///< elements
};

/// A callable without its type. It is run once, and ended after that, or without having run.
struct code {
  void (*run)(void* closure, const place* places);
  void (*end)(void* closure) noexcept;  ///< null: nothing to do
  std::size_t size, alignment;
};

/// Who runs a task, and after what.
struct wishes {
  bool on_said = false;
  int on = 0;  ///< this rank
  bool owner_said = false;
  datum* on_owner_of = nullptr;  ///< the owner of this
  bool waits = false;
  std::uint64_t after = 0;     ///< this tag is unlocked
  const char* name = nullptr;  ///< for reports and traces; a literal, or what stays as long
};

/// Memory of a datum: null where this rank has none yet, and it is allocated when needed.
struct extent {
  void* memory = nullptr;
  std::size_t element = 1, count = 1, alignment = 1;
  int owner = 0;
  long tag = -1;  ///< below 0: numbered in the order of creation
};

/// A transfer that the program asks for by itself.
struct explicit_transfer {
  datum* what = nullptr;
  int peer = 0, tag = 0;
  detail::core* where = nullptr;  ///< null: the runtime's own ranks
};

/// What follows a detached transfer, on the rank's own thread: a call, or a tag that is unlocked.
struct follow_up {
  std::function<void()> call;  ///< may be empty
  bool unlocks = false;
  std::uint64_t tag = 0;
};

namespace port {

/// Collective over the ranks of `all`; works on a duplicate. `header`: tasks.hpp as the program was compiled
/// with it, or null; the module of workers stands beside an installation.
flow* open(detail::core& all, const options&, const char* header = nullptr);
/// Waits for everything; collective. What is pending as an exception then is told on standard error, and ends
/// the job. `passing_by`: an exception leaves the runtime's scope; then it waits for a moment only.
void close(flow*, bool passing_by) noexcept;

int rank(const flow&) noexcept;
int size(const flow&) noexcept;
int workers(const flow&) noexcept;

datum* add(flow&, const extent&);
/// Waits until nothing uses it here, and forgets it.
void remove(flow&, datum*);
extent extent_of(const datum&) noexcept;
long tag_of(const datum&) noexcept;  ///< or its number
void set_tag(flow&, datum&, long tag);
void set_owner(flow&, datum&, int owner);

/// Finds out who runs the task, and inserts the transfers that it needs. Returns room for the closure where
/// this rank runs it, to be filled before submit(); null where it does not.
void* begin(flow&, const use* uses, std::size_t n, const wishes&, const code&);
void submit(flow&) noexcept;

void fetch(flow&, datum*, int rank);
void scatter(flow&, datum* const* data, std::size_t n, int root);
void gather(flow&, datum* const* data, std::size_t n, int root);
void flush(flow&, datum*);  ///< null: all
void set_cache(flow&, bool on);

/// Until the tasks before it are done; then the memory may be used until release().
void* acquire(flow&, datum*, use_mode how, place& at);
void release(flow&, void* acquired) noexcept;

/// One transfer that is waited for.
void* start(flow&, const explicit_transfer&, bool sends);
bool test(flow&, void* request, detail::envelope& found);
void wait(flow&, void* request, detail::envelope& found);
void drop(flow&, void* request) noexcept;
/// Some that are not; `then` follows once, when all are done.
void detach(flow&, const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then);

/// Where the program is, for reports (core/place.hpp).
void note(const flow&, const std::source_location& at) noexcept;

void wait_all(flow&);
void unlock(flow&, std::uint64_t tag);
void barrier(flow&);
/// Goes on with what is ready to be sent or has come, and runs no kernel.
void progress(flow&);
statistics told(const flow&);

[[noreturn]] void refuse(const flow&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);

}  // namespace port
}  // namespace tutti::tasks
