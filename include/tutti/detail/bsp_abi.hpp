// SPDX-License-Identifier: Apache-2.0
//
// Supersteps without types: the interface for front ends of bulk-synchronous programs
// (tutti/bsp.hpp, LPF's C interface). A process registers memory, and schedules puts, gets and
// collectives, which are complete after its next sync.
//
// A section is the part of a program between open() and leave(). In it the ranks of a communicator
// are the processes of a bulk-synchronous program.
//
// Functions that return bool return false, and do nothing, if no capacity is left. All functions
// that are not noexcept throw usage_error if an argument is wrong. The process has then failed,
// permanently, and the other processes learn of it in their next sync. A process that has failed
// throws peer_error or the error of its failure.
//
// ```cpp
// constexpr bool unbounded = true, global = true;
// bsp::process* mine = bsp::abi::open(detail::impl_of(world), unbounded);
// const int next = (world.rank() + 1) % world.size();
// int received = -1, sent = world.rank();
// bsp::slot there;
// bsp::abi::register_memory(*mine, global, &received, sizeof received, there);
// bsp::abi::sync(*mine);
// bsp::abi::put(*mine, &sent, next, there, 0, sizeof sent);
// bsp::abi::sync(*mine);
// assert((received + 1) % world.size() == world.rank());
// bsp::abi::leave(*mine);
// bsp::abi::close(mine);
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/detail/export.hpp"
#include "tutti/detail/owner.hpp"
#include "tutti/element.hpp"
#include "tutti/operation.hpp"

namespace tutti::bsp {
/// One process's part of a section. Only its rank uses it. The library defines it and does not
/// export it.
class process;
}  // namespace tutti::bsp

TUTTI_API_BEGIN
namespace tutti::bsp {

/// Registered memory. All processes register global slots, in the same order, so that the others
/// can put and get there. Local slots are only for this process. Global slots have even numbers and
/// local ones odd numbers, so that local registrations do not change the numbers of global slots.
using slot = std::size_t;
inline constexpr slot no_slot = ~slot{0};

/// The id of a set of processes that calls collectives. Other processes may have another id for the
/// same set; 0: none.
using process_set_id = std::uint64_t;

/// The source location of a call, for reports.
struct call_site {
  const char* file = nullptr;  ///< null: not known
  int line = 0;                ///< in the file
};

/// Measured costs of messages among `processes` processes, in seconds. They are positive and
/// finite, and the same on all processes of a job.
struct machine_costs {
  double byte = 0;       ///< per byte, of long messages
  double message = 0;    ///< per message, besides its bytes
  double superstep = 0;  ///< without messages
  int processes = 0;     ///< the number of measured processes; 0: not measured yet

  /// Seconds per byte, if messages have at least `bytes` bytes.
  double seconds_per_byte(std::size_t bytes) const noexcept;
  /// Seconds per superstep among `among` processes: it grows with their logarithm.
  double seconds_per_superstep(std::size_t among) const noexcept;
};

namespace abi {

/// Collective over the communicator, which must outlive the process. The table of registered memory
/// and the message queue have no capacity at first. If `unbounded`, they grow as needed.
process* open(detail::communicator_impl& all, bool unbounded);
/// Collective: waits until all processes leave. Those that still sync fail. Returns true if this
/// process has not failed, or only because others left during its sync.
bool leave(process&) noexcept;
/// Returns whether this process has failed by an error that another process throws, too, so that
/// one report is enough.
bool reported_by_another(const process&) noexcept;
void close(process*) noexcept;
/// Begins and ends a nested section, which has process objects of its own over the same
/// communicator. begin_nested() is collective. It throws on all processes if some of them sync or
/// leave instead. Until end_nested(), sync() of this process object throws usage_error. `call` is a
/// literal for reports: the name of LPF's call, "rehook" or "hook".
void begin_nested(process&, const char* call);
void end_nested(process&) noexcept;

int pid(const process&) noexcept;
int nprocs(const process&) noexcept;
/// "threads", "fibers", "mpi"
const char* engine_of(const process&) noexcept;
/// Validates the arguments s, p and hi of lpf_collectives_init(). Throws unless `s` is the id of
/// this process, `s` < `p`, `p` is at most the number of processes, and `hi` is at most `p`.
void validate_collectives_init(process&, unsigned s, unsigned p, unsigned hi);
bool failed(const process&) noexcept;
/// Throws usage_error if the calling thread does not run this process, which has then not failed.
/// All functions that throw usage_error do that.
void validate_thread(const process&, const char* operation);
/// Whether validate_thread() does not throw.
bool may_call_here(const process&) noexcept;
/// Reports an error that a front end has found: the process has then failed, permanently. Throws
/// usage_error, or the error of an earlier failure.
[[noreturn]] void reject(process&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);
/// The measured costs of the engine, taken when this job opened its first section.
const machine_costs& measured(const process&) noexcept;

bool resize_memory_register(process&, std::size_t entries);
bool resize_queue(process&, std::size_t messages);
/// For front ends that cannot know how many messages arrive: checked mode counts only sent messages
/// against the capacity of the queue.
void count_sent_only(process&) noexcept;
bool register_memory(process&, bool global, void* base, std::size_t bytes, slot& result);
void deregister(process&, slot);

bool put(process&, slot from, std::size_t from_offset, int to, slot into, std::size_t offset,
         std::size_t bytes);
bool get(process&, int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
         std::size_t bytes);
/// Transfer the same, from or into local memory that need not be registered.
bool put(process&, const void* data, int to, slot into, std::size_t offset, std::size_t bytes);
bool get(process&, int from, slot source, std::size_t source_offset, void* into, std::size_t bytes);
void sync(process&);
/// Sets the source location of the next calls.
void set_call_site(process&, call_site) noexcept;

/// The most that the calls of a set may transfer and reduce between two syncs.
struct limits {
  std::size_t calls;          ///< collectives
  std::size_t element_bytes;  ///< of a reduced element
  std::size_t bytes;          ///< of broadcast, gather, ... in total
};
/// The processes first, first + stride, ... up to last. Local.
bool make_process_set(process&, int first, int last, int stride, const limits&, process_set_id& result);
void free_process_set(process&, process_set_id);

// The root is an index in the set. A slot that a call does not access may be `no_slot`. With
// `skip_own_block` the call skips the block that a process sends to itself; otherwise it copies
// that block, unless it is already in place. The defaults are LPF's.
bool broadcast(process&, process_set_id, slot from, slot into, std::size_t bytes, int root);
bool gather(process&, process_set_id, slot from, slot into, std::size_t bytes, int root,
            bool skip_own_block = true);
bool scatter(process&, process_set_id, slot from, slot into, std::size_t bytes, int root,
             bool skip_own_block = true);
bool allgather(process&, process_set_id, slot from, slot into, std::size_t bytes, bool skip_own_block);
bool alltoall(process&, process_set_id, slot from, slot into, std::size_t bytes, bool skip_own_block = true);

/// `into[i] = into[i] (+) other[i]` for i in 0 .. n - 1, n > 0.
using combiner = void (*)(std::size_t n, const void* other, void* into);
/// Combines elements of `size` bytes at `data`, registered by `where`, in place. `root` below 0
/// means all members. `single_element`: all bytes are one indivisible element, as in LPF's reduce.
/// Otherwise they are an array, whose parts may be combined separately.
bool reduce(process&, process_set_id, void* data, slot where, std::size_t count, std::size_t size,
            combiner by, int root, bool single_element);
/// The same with an operator of tutti, on elements of a known type. The state of the operator must
/// live until the sync.
bool reduce(process&, process_set_id, void* data, slot where, std::size_t count, const element& type,
            const operation& by, int root, bool single_element);

}  // namespace abi
}  // namespace tutti::bsp
TUTTI_API_END
