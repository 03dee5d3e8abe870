// SPDX-License-Identifier: Apache-2.0
//
// Supersteps without types: what front ends of bulk-synchronous programs (tutti/bsp.hpp, LPF's C interface)
// ask of the library. A process registers memory, schedules puts, gets and collectives, and they are complete
// after its next sync.
//
// Functions that return bool return false where there is no capacity left, and have done nothing then. All
// of them throw usage_error where an argument can be seen to be wrong: the process has failed then, and
// so it stays; the others learn it in their next sync. A process that has failed throws peer_error or what
// it failed by.
//
// ```cpp
// bsp::process* mine = bsp::port::open(world.native(), true);
// const int next = (world.rank() + 1) % world.size();
// int came = -1, sent = world.rank();
// bsp::slot there;
// bsp::port::add(*mine, true, &came, sizeof came, there);
// bsp::port::sync(*mine);
// bsp::port::put(*mine, &sent, next, there, 0, sizeof sent);
// bsp::port::sync(*mine);
// assert((came + 1) % world.size() == world.rank());
// bsp::port::leave(*mine);
// bsp::port::close(mine);
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/core/element.hpp"
#include "tutti/core/operation.hpp"
#include "tutti/core/owner.hpp"

namespace tutti::bsp {

/// Registered memory; the even ones are global.
using slot = std::size_t;
inline constexpr slot no_slot = ~slot{0};

/// One process's part of a section. Used by its rank alone. Defined in the library.
class process;

/// A set of processes that makes collectives, as one process knows it; 0: none.
using members = std::uint64_t;

/// Where a call was written, for reports.
struct call_site {
  const char* file = nullptr;  ///< null: not known
  int line = 0;                ///< in it
};

/// Seconds a byte and seconds a superstep, for messages of `bytes` bytes among `processes`. Positive and
/// finite; the same on all processes of a job.
struct figures {
  double byte = 0;       ///< of long messages
  double message = 0;    ///< of each message beside its bytes
  double superstep = 0;  ///< without messages
  int processes = 0;     ///< with how many it was measured; 0: not yet

  /// Seconds a byte, where messages have `bytes` bytes or more.
  double byte_of(std::size_t bytes) const noexcept;
  /// Seconds a superstep among so many processes: it grows with their logarithm.
  double superstep_of(std::size_t among) const noexcept;
};

namespace port {

/// Collective over the communicator, which must outlive it. Registers and queues have no capacity, unless
/// `unbounded`.
process* open(detail::core& all, bool unbounded);
/// Leaves the section together with all others; those that still sync fail. False: this process has failed,
/// by something else than that others had left while it synced.
bool leave(process&) noexcept;
void close(process*) noexcept;
/// Before and after a section of the same processes within this one, over the same communicator. Beginning
/// is collective; it throws, on all processes, if some sync or leave instead. In between sync() throws
/// usage_error. `call`: a literal, "rehook" or "hook", for reports.
void begin_nested(process&, const char* call);
void end_nested(process&) noexcept;

int pid(const process&) noexcept;
int nprocs(const process&) noexcept;
/// "threads", "fibers", "mpi"
const char* engine_of(const process&) noexcept;
/// Throws unless `s` is the number of this process, below `p`, there are as many as `p`, and `hi` is not
/// beyond.
void check_process(process&, unsigned s, unsigned p, unsigned hi);
bool failed(const process&) noexcept;
/// What a front end finds wrong: the process has failed, and so it stays. Throws usage_error, or what it has
/// failed by before.
[[noreturn]] void refuse(process&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);
/// The figures of the engine, measured with the first section that this job has opened.
const figures& measured(const process&) noexcept;

bool resize_register(process&, std::size_t entries);
bool resize_queue(process&, std::size_t messages);
/// For front ends that cannot know how many messages come: checked mode does not count these in the queue.
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
/// Where the next calls are written.
void tell_site(process&, call_site) noexcept;

/// What a set may make between two syncs.
struct limits {
  std::size_t calls;          ///< collectives
  std::size_t element_bytes;  ///< of what is reduced
  std::size_t bytes;          ///< of what else
};
/// The processes first, first + stride ... up to last. Local.
bool make_members(process&, int first, int last, int stride, const limits&, members& made);
void end_members(process&, members);

// Roots are counted among the members. Areas that a call does not touch may be of no slot. `without_own`: the
// block from and for the same process is not touched either; else it is copied, or stands where it goes.
bool broadcast(process&, members, slot from, slot into, std::size_t bytes, int root);
bool gather(process&, members, slot from, slot into, std::size_t bytes, int root, bool without_own = true);
bool scatter(process&, members, slot from, slot into, std::size_t bytes, int root, bool without_own = true);
bool allgather(process&, members, slot from, slot into, std::size_t bytes, bool without_own);
bool alltoall(process&, members, slot from, slot into, std::size_t bytes, bool without_own = true);

/// `into[i] = into[i] (+) other[i]` for i in 0 .. n - 1, n > 0.
using combiner = void (*)(std::size_t n, const void* other, void* into);
/// Elements of `size` bytes at `data`, which `where` registers. In place; `root` below 0: on all. `whole`:
/// one element, which is not to be cut (a reduction; else a combination of arrays).
bool combine(process&, members, void* data, slot where, std::size_t count, std::size_t size, combiner by,
             int root, bool whole);
/// The same by an operator of tutti, on elements that it knows. Its state must stay until the sync.
bool combine(process&, members, void* data, slot where, std::size_t count, const element& type,
             const operation& by, int root, bool whole);

}  // namespace port
}  // namespace tutti::bsp
