// SPDX-License-Identifier: Apache-2.0
//
// Tasks without types: the interface between the task API (tutti/tasks.hpp) and the library. Front
// ends register data and insert tasks that read and write them; src/frontends/tasks derives
// transfers, order and overlap.
//
// The rank of a task graph calls all functions, on the thread that runs the rank, and not from
// kernels.
//
// ```cpp
// tasks::task_graph* mine = tasks::abi::open(detail::impl_of(world), {});
// int x = world.rank();
// tasks::data_handle* d = tasks::abi::add(*mine, {&x, 4, 1, alignof(int), 0});
// tasks::abi::fetch(*mine, d, world.size() - 1);  // from its owner, rank 0
// tasks::abi::wait_all(*mine);
// assert(world.rank() != world.size() - 1 || x == 0);
// tasks::abi::close(mine, false);
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string_view>
#include <vector>

#include "tutti/detail/export.hpp"
#include "tutti/detail/owner.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/error.hpp"
#include "tutti/operation.hpp"

namespace tutti::tasks {
/// One rank's part of a runtime, and its record of registered data. Defined in the library, and not
/// exported.
class task_graph;
struct data_handle;
}  // namespace tutti::tasks

TUTTI_API_BEGIN
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
  std::size_t max_pending = 16384;
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

/// One argument of a task.
struct use {
  data_handle* what = nullptr;  ///< null: an empty handle
  use_mode how = use_mode::read;
  const reducer* by = nullptr;  ///< of reduce; must live as long as the task graph
};

/// The memory that a kernel receives for one argument.
struct kernel_buffer {
  void* data;
  std::size_t count;  ///< elements
};

/// The functions of a type-erased kernel. It runs at most once, and is then destroyed.
struct kernel_operations {
  void (*run)(void* closure, const kernel_buffer* buffers);
  void (*destroy)(void* closure) noexcept;  ///< null: nothing to do
  std::size_t size, alignment;
};

/// Options of a task: which rank runs it, and after what.
struct task_options {
  bool has_rank = false;
  int on = 0;  ///< the rank that runs it
  bool has_owner = false;
  data_handle* on_owner_of = nullptr;  ///< the owner of this
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
  data_handle* what = nullptr;
  int peer = 0, tag = 0;
  detail::communicator_impl* where = nullptr;  ///< null: the runtime's own ranks
};

/// What follows a detached transfer, on the rank's own thread: a call, or the unlocking of a tag.
struct follow_up {
  std::function<void()> call;  ///< may be empty
  bool unlocks = false;
  std::uint64_t tag = 0;
};

namespace abi {

/// Collective over the ranks of `all`; works on a duplicate. `header` is the path of tasks_abi.hpp
/// when the program was compiled, or null: an installation keeps the worker module beside it.
task_graph* open(detail::communicator_impl& all, const options&, const char* header = nullptr);
/// Collective: waits for everything. An exception that is then pending is reported on standard
/// error, and ends the job. `unwinding` means stack unwinding: it then waits only for a moment.
void close(task_graph*, bool unwinding) noexcept;

int rank(const task_graph&) noexcept;
int size(const task_graph&) noexcept;
int workers(const task_graph&) noexcept;

data_handle* add(task_graph&, const extent&);
/// Waits until nothing uses the data here, and unregisters them.
void remove(task_graph&, data_handle*);
extent extent_of(const data_handle&) noexcept;
long tag_of(const data_handle&) noexcept;  ///< or its number
void set_tag(task_graph&, data_handle&, long tag);
void set_owner(task_graph&, data_handle&, int owner);

/// Determines which rank runs the task, and inserts the transfers that it needs. If this rank runs
/// it, returns memory for the closure, which the caller fills before submit(). Otherwise returns
/// null.
void* begin(task_graph&, const use* uses, std::size_t n, const task_options&,
            const kernel_operations&);
void submit(task_graph&) noexcept;

void fetch(task_graph&, data_handle*, int rank);
void scatter(task_graph&, data_handle* const* data, std::size_t n, int root);
void gather(task_graph&, data_handle* const* data, std::size_t n, int root);
void flush(task_graph&, data_handle*);  ///< null: all
void set_cache(task_graph&, bool on);

/// Waits for the earlier tasks. The caller may then use the memory until release().
void* acquire(task_graph&, data_handle*, use_mode how, kernel_buffer& at);
void release(task_graph&, void* acquired) noexcept;

/// Begins, and tests, one transfer that the caller waits for. The runtime may have ended before
/// test(), wait() and drop(). They then return the result. `at`: the place in the program.
void* start(task_graph&, const explicit_transfer&, bool sends);
bool test(task_graph*, void* request, detail::envelope& found, const std::source_location& at);
/// `is_entry`: the program calls it, and not a call that has begun the transfer.
void wait(task_graph*, void* request, detail::envelope& found, bool is_entry,
          const std::source_location& at);
void drop(task_graph*, void* request) noexcept;
/// Begins transfers that nobody waits for; `then` follows once, when all are complete.
void detach(task_graph&, const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then);

/// The source location of the program, for reports (detail/call_site.hpp).
void note(const task_graph&, const std::source_location& at) noexcept;

void wait_all(task_graph&);
void unlock(task_graph&, std::uint64_t tag);
void barrier(task_graph&);
/// Sends what is ready and receives what has arrived, and runs no kernel.
void progress(task_graph&);
statistics counts(const task_graph&);

[[noreturn]] void reject(const task_graph&, const char* operation, const char* parameter,
                         std::string_view problem, const char* remedy);

}  // namespace abi
}  // namespace tutti::tasks
TUTTI_API_END
