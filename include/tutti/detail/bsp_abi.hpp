// SPDX-License-Identifier: Apache-2.0
//
// Supersteps without types: the interface for front ends of bulk-synchronous programs
// (tutti/bsp.hpp, LPF's C interface). A process registers memory, and schedules puts, gets and
// collectives, which are complete after its next sync.
//
// Functions that return bool return false, and do nothing, if no capacity is left. All functions
// throw usage_error if an argument is wrong. The process has then failed, permanently, and the
// other processes learn of it in their next sync. A process that has failed throws peer_error or
// the error of its failure.
//
// ```cpp
// bsp::process* mine = bsp::abi::open(detail::impl_of(world), true);
// const int next = (world.rank() + 1) % world.size();
// int came = -1, sent = world.rank();
// bsp::slot there;
// bsp::abi::add(*mine, true, &came, sizeof came, there);
// bsp::abi::sync(*mine);
// bsp::abi::put(*mine, &sent, next, there, 0, sizeof sent);
// bsp::abi::sync(*mine);
// assert((came + 1) % world.size() == world.rank());
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

TUTTI_API_BEGIN
namespace tutti::bsp {

/// Registered memory; global slots have even numbers.
using slot = std::size_t;
inline constexpr slot no_slot = ~slot{0};

/// One process's part of a section. Only its rank uses it. Defined in the library.
class process;

/// A set of processes that calls collectives, as one process knows it; 0: none.
using members = std::uint64_t;

/// The source location of a call, for reports.
struct call_site {
  const char* file = nullptr;  ///< null: not known
  int line = 0;                ///< in the file
};

/// Measured costs of messages among `processes` processes, in seconds. They are positive and
/// finite, and the same on all processes of a job.
struct figures {
  double byte = 0;       ///< per byte, of long messages
  double message = 0;    ///< per message, besides its bytes
  double superstep = 0;  ///< without messages
  int processes = 0;     ///< the number of measured processes; 0: not measured yet

  /// Seconds per byte, if messages have at least `bytes` bytes.
  double byte_of(std::size_t bytes) const noexcept;
  /// Seconds per superstep among `among` processes: it grows with their logarithm.
  double superstep_of(std::size_t among) const noexcept;
};

namespace abi {

/// Collective over the communicator, which must outlive the process. Registers and queues have no
/// capacity at first, unless `unbounded`.
process* open(detail::communicator_impl& all, bool unbounded);
/// Leaves the section together with all other processes; processes that still sync fail. Returns
/// false if this process has failed, unless the reason is that others left during its sync.
bool leave(process&) noexcept;
/// Returns whether this process has failed by an error that another process throws, too, so that one
/// report is enough.
bool another_reports(const process&) noexcept;
void close(process*) noexcept;
/// Begins and ends a nested section of the same processes, over the same communicator. The begin is
/// collective; it throws on all processes if some sync or leave instead. In between sync() throws
/// usage_error. `call` is a literal for reports, "rehook" or "hook".
void begin_nested(process&, const char* call);
void end_nested(process&) noexcept;

int pid(const process&) noexcept;
int nprocs(const process&) noexcept;
/// "threads", "fibers", "mpi"
const char* engine_of(const process&) noexcept;
/// Throws unless `s` is the number of this process, `s` < `p`, the number of processes is `p`, and
/// `hi` is not greater.
void check_process(process&, unsigned s, unsigned p, unsigned hi);
bool failed(const process&) noexcept;
/// Reports an error that a front end has found: the process has then failed, permanently. Throws
/// usage_error, or the error of an earlier failure.
[[noreturn]] void refuse(process&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);
/// The measured costs of the engine, taken when this job opened its first section.
const figures& measured(const process&) noexcept;

bool resize_register(process&, std::size_t entries);
bool resize_queue(process&, std::size_t messages);
/// For front ends that cannot know how many messages arrive: checked mode does not count these in
/// the queue.
void count_sent_only(process&) noexcept;
bool add(process&, bool global, void* base, std::size_t bytes, slot& made);
void remove(process&, slot);

bool put(process&, slot from, std::size_t from_offset, int to, slot into, std::size_t offset,
         std::size_t bytes);
bool get(process&, int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
         std::size_t bytes);
/// The same from and into memory that need not be registered.
bool put(process&, const void* data, int to, slot into, std::size_t offset, std::size_t bytes);
bool get(process&, int from, slot source, std::size_t source_offset, void* into, std::size_t bytes);
void sync(process&);
/// Sets the source location of the next calls.
void report_site(process&, call_site) noexcept;

/// How much a set may schedule between two syncs.
struct limits {
  std::size_t calls;          ///< collectives
  std::size_t element_bytes;  ///< of a reduced element
  std::size_t bytes;          ///< of all other data
};
/// The processes first, first + stride, ... up to last. Local.
bool make_members(process&, int first, int last, int stride, const limits&, members& made);
void end_members(process&, members);

// The root is a number among the members. Memory that a call does not access may be in no slot.
// With `without_own` the call also skips the block that a process sends to itself; otherwise it
// copies that block, unless it is already in place.
bool broadcast(process&, members, slot from, slot into, std::size_t bytes, int root);
bool gather(process&, members, slot from, slot into, std::size_t bytes, int root, bool without_own = true);
bool scatter(process&, members, slot from, slot into, std::size_t bytes, int root, bool without_own = true);
bool allgather(process&, members, slot from, slot into, std::size_t bytes, bool without_own);
bool alltoall(process&, members, slot from, slot into, std::size_t bytes, bool without_own = true);

/// `into[i] = into[i] (+) other[i]` for i in 0 .. n - 1, n > 0.
using combiner = void (*)(std::size_t n, const void* other, void* into);
/// Combines elements of `size` bytes at `data`, registered by `where`, in place. `root` below 0
/// means all members. `whole` marks one element that must not be cut (a reduction; otherwise it is
/// a combination of arrays).
bool combine(process&, members, void* data, slot where, std::size_t count, std::size_t size, combiner by,
             int root, bool whole);
/// The same with an operator of tutti, on elements of a known type. The state of the operator must
/// live until the sync.
bool combine(process&, members, void* data, slot where, std::size_t count, const element& type,
             const operation& by, int root, bool whole);

}  // namespace abi
}  // namespace tutti::bsp
TUTTI_API_END
