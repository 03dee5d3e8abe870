// SPDX-License-Identifier: Apache-2.0
//
// Tasks without types: the interface between the task API (tutti/tasks.hpp) and the library. Front
// ends register data and insert tasks that read and write them; src/tasks derives transfers, order
// and overlap.
//
// The rank of a flow calls all functions, from the thread that carries the rank, and not from
// kernels.
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

/// A kernel has thrown, on this rank or on one whose result is needed here. The text names the
/// task, the rank that ran it, and the exception. On that rank the exception itself is nested
/// (std::rethrow_if_nested).
class task_error : public error {
 public:
  using error::error;
};

/// Options of a runtime. All ranks pass the same, except for workers.
struct options {
  /// How many kernels run concurrently on this rank: one on the rank's own thread, while it waits,
  /// and `workers` - 1 on others. 0: TUTTI_TASK_WORKERS, or 1.
  int workers = 0;
  /// Whether copies of data are kept, and not sent again until the data are modified.
  bool cache = true;
  /// How many bytes of copies one rank keeps of another's data; beyond that the least recently used
  /// go first.
  std::size_t cache_bytes = std::size_t{64} << 20;
  /// How many tasks and transfers may be pending on this rank; insert() executes some of them
  /// beyond that.
  std::size_t most_pending = 16384;
};

/// The work of a rank in a runtime so far.
struct statistics {
  std::vector<std::uint64_t> bytes_sent;     ///< of data, to each rank of the runtime
  std::vector<std::uint64_t> messages_sent;  ///< that carried data, to each
  std::uint64_t cache_hits = 0;              ///< reads elsewhere that a copy served
  std::uint64_t tasks_run = 0;               ///< kernels
  double idle_seconds = 0;                   ///< that this rank waited with nothing to run
};

/// How a kernel uses its data.
enum class use_mode : std::uint8_t { read = 1, write = 2, read_write = 3, reduce = 4 };

/// How tasks reduce into data. `combine` has the element type of the data.
struct reducer {
  combine_function combine = nullptr;                    ///< has no state
  void (*neutral)(void* into, std::size_t n) = nullptr;  ///< initial contribution; null: the
                                                         /// code of the kernel writes that first
  friend bool operator==(const reducer&, const reducer&) = default;
};

/// One rank's part of a runtime, and its record of registered data. Defined in the library.
class flow;
struct datum;

/// One argument of a task.
struct use {
  datum* what = nullptr;  ///< null: an empty handle
  use_mode how = use_mode::read;
  const reducer* by = nullptr;  ///< of reduce; must live as long as the flow
};

/// The memory that a kernel receives for one argument.
struct place {
  void* data;
  std::size_t count;  ///< elements
};

/// A callable without its type. It runs at most once, and is then destroyed.
struct code {
  void (*run)(void* closure, const place* places);
  void (*end)(void* closure) noexcept;  ///< null: nothing to do
  std::size_t size, alignment;
};

/// Options of a task: which rank runs it, and after what.
struct wishes {
  bool on_said = false;
  int on = 0;  ///< the rank that runs it
  bool owner_said = false;
  datum* on_owner_of = nullptr;  ///< the owner of this
  bool waits = false;
  std::uint64_t after = 0;     ///< after this tag is unlocked
  const char* name = nullptr;  ///< for reports and traces; must live as long
};

/// The memory of data. It is null if this rank has none yet; the library then allocates it when
/// needed.
struct extent {
  void* memory = nullptr;
  std::size_t element = 1, count = 1, alignment = 1;
  int owner = 0;
  long tag = -1;  ///< below 0: the index in the order of creation
};

/// A transfer that the program requests explicitly.
struct explicit_transfer {
  datum* what = nullptr;
  int peer = 0, tag = 0;
  detail::core* where = nullptr;  ///< null: the runtime's own ranks
};

/// What follows a detached transfer, on the rank's own thread: a call, or the unlocking of a tag.
struct follow_up {
  std::function<void()> call;  ///< may be empty
  bool unlocks = false;
  std::uint64_t tag = 0;
};

namespace port {

/// Collective over the ranks of `all`; works on a duplicate. `header` is the path of tasks.hpp when
/// the program was compiled, or null: an installation keeps the worker module beside it.
flow* open(detail::core& all, const options&, const char* header = nullptr);
/// Collective: waits for everything. An exception that is then pending is reported on standard
/// error, and ends the job. `passing_by` means stack unwinding: it then waits only for a moment.
void close(flow*, bool passing_by) noexcept;

int rank(const flow&) noexcept;
int size(const flow&) noexcept;
int workers(const flow&) noexcept;

datum* add(flow&, const extent&);
/// Waits until nothing uses the data here, and unregisters them.
void remove(flow&, datum*);
extent extent_of(const datum&) noexcept;
long tag_of(const datum&) noexcept;  ///< or its number
void set_tag(flow&, datum&, long tag);
void set_owner(flow&, datum&, int owner);

/// Determines which rank runs the task, and inserts the transfers that it needs. If this rank runs
/// it, returns memory for the closure, which the caller fills before submit(). Otherwise returns
/// null.
void* begin(flow&, const use* uses, std::size_t n, const wishes&, const code&);
void submit(flow&) noexcept;

void fetch(flow&, datum*, int rank);
void scatter(flow&, datum* const* data, std::size_t n, int root);
void gather(flow&, datum* const* data, std::size_t n, int root);
void flush(flow&, datum*);  ///< null: all
void set_cache(flow&, bool on);

/// Waits for the earlier tasks. The caller may then use the memory until release().
void* acquire(flow&, datum*, use_mode how, place& at);
void release(flow&, void* acquired) noexcept;

/// Begins, and tests, one transfer that the caller waits for.
void* start(flow&, const explicit_transfer&, bool sends);
bool test(flow&, void* request, detail::envelope& found);
void wait(flow&, void* request, detail::envelope& found);
void drop(flow&, void* request) noexcept;
/// Begins transfers that nobody waits for; `then` follows once, when all are complete.
void detach(flow&, const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then);

/// The source location of the program, for reports (core/place.hpp).
void note(const flow&, const std::source_location& at) noexcept;

void wait_all(flow&);
void unlock(flow&, std::uint64_t tag);
void barrier(flow&);
/// Sends what is ready and receives what has arrived, and runs no kernel.
void progress(flow&);
statistics told(const flow&);

[[noreturn]] void refuse(const flow&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);

}  // namespace port
}  // namespace tutti::tasks
