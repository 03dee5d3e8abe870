// SPDX-License-Identifier: Apache-2.0
//
// Bulk-synchronous programs in C++. Processes work on their own memory, put to and get from the
// memory of other processes, and synchronise in sync(). Everything that was scheduled in a
// superstep, between two calls of sync(), is complete after the second one. tutti.hpp does not
// include this header.
//
// Only sync() and the creation and destruction of a context block, so a program cannot deadlock.
// LPF's C interface (lpf/core.h) is another front end of the same engine.
//
// Sources: Valiant 1990 (the model); Suijlen, Yzelman 2019 (LPF).
//
// ```cpp
// #include <tutti/bsp.hpp>
//
// int main(int argc, char** argv) {
//   return tutti::bsp::run(argc, argv, [](tutti::bsp::context& ctx) {
//     const int p = ctx.nprocs(), me = ctx.pid();
//     std::vector<int> from_all(p);
//     auto there = ctx.registered(from_all);  // collective: a slot
//     ctx.sync();                             // from now on it may be used
//     for (int k = 0; k < p; ++k) ctx.put(10 * me, k, there, me);  // element `me` of process k
//     int sum = me;
//     ctx.allreduce(sum, std::plus<>{});
//     ctx.sync();  // all of it is there
//     assert(from_all[p - 1] == 10 * (p - 1) && sum == p * (p - 1) / 2);
//   });
// }
// ```
#pragma once

#include <exception>
#include <memory>
#include <source_location>
#include <utility>

#include "tutti/communicator.hpp"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/bsp_memory.hpp"
#include "tutti/detail/bsp_registration.hpp"
#include "tutti/detail/bsp_section.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/run.hpp"

TUTTI_API_BEGIN
namespace tutti::bsp {

/// A set of processes that call collectives together. Its members are numbered 0 .. nprocs() - 1.
///
/// All members call the same collectives of a subset in the same order. Processes that are not
/// members call only sync(). Each collective is scheduled, and is complete after the next sync. One
/// sync completes any number of collectives, puts and gets. Until then the program must not change
/// what is read, and what is written is undefined. Memory that a collective writes must not be read
/// or written by another operation of the same superstep.
///
/// Memory is a container, a slot, a view such as std::span, or a variable, which is one element. It
/// must not move until the sync, and need not be registered. Elements are trivially copyable, and
/// all elements of a call have one type. Counts are the sizes of the containers, and they must
/// match on all members. Memory that a process does not use may be empty.
///
/// An `op` is a callable that combines two elements into one. It must be associative and
/// commutative, is applied in any order, and is kept until the sync. Operators that are known by
/// name (std::plus<> and the others of tutti/ops.hpp) run as fast as in other calls of tutti.
///
/// Costs: the costs of tutti's collectives, which sync() incurs.
///
/// Throws usage_error if a root is not a member, and if a process can see that counts do not match
/// (see context). If members call different collectives, the sync throws mismatch_error or another
/// error of tutti's collectives.
///
/// ```cpp
/// #include <tutti/bsp.hpp>
/// bsp::context ctx(world);
/// const int p = ctx.nprocs(), me = ctx.pid();
/// bsp::subset mine = ctx.members(me % 2, p, 2);  // the even ones, or the odd ones
/// ctx.sync();
/// std::vector<int> theirs(mine.nprocs());
/// mine.allgather(me, theirs);
/// double largest = me;
/// ctx.allreduce(largest, ops::max<>{});
/// ctx.sync();
/// assert(theirs.back() % 2 == me % 2 && largest == p - 1);
/// ```
class subset {
 public:
  subset(subset&&) noexcept = default;
  subset& operator=(subset&& other) noexcept {
    if (this != &other) {
      end();
      section_ = std::move(other.section_);
      set_ = other.set_;
    }
    return *this;
  }
  /// Local. The next sync still completes the collectives of this subset. On another thread than
  /// that of the process it does nothing, and the context keeps the subset.
  ~subset() { end(); }

  int pid() const noexcept { return set_.pid; }        ///< rank of the caller among the members
  int nprocs() const noexcept { return set_.nprocs; }  ///< number of members

  /// Copies `data` of the root to `data` of all other members.
  template <class Data>
  void broadcast(Data&& data, int root = 0, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_data<Data>())
      begin("broadcast", at).broadcast(set_, detail::memory_of(data), root);
  }

  /// Concatenates `src` of all members, in the order of members, into `dst` of the root. The `dst`
  /// of other members is not used. The root's `src` may be its own block of `dst`.
  template <class Src, class Dst>
  void gather(Src&& src, Dst&& dst, int root = 0, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_blocks<Src, Dst>())
      begin("gather", at).gather(set_, read_memory("gather", src), detail::memory_of(dst), root);
  }

  /// Copies the blocks of the root's `src` to `dst` of each member, in the order of members. The
  /// `src` of other members is not used. The root's `dst` may be its own block of `src`.
  template <class Src, class Dst>
  void scatter(Src&& src, Dst&& dst, int root = 0,
               std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_blocks<Src, Dst>())
      begin("scatter", at).scatter(set_, read_memory("scatter", src), detail::memory_of(dst), root);
  }

  /// Concatenates `src` of all members, in the order of members, into `dst` of all. `src` may be
  /// the caller's own block of `dst`.
  template <class Src, class Dst>
  void allgather(Src&& src, Dst&& dst, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_blocks<Src, Dst>())
      begin("allgather", at).allgather(set_, read_memory("allgather", src), detail::memory_of(dst));
  }

  /// Copies block k of `src` to member k. The receiver stores it at the block of `dst` whose index
  /// is the number of the sender.
  template <class Src, class Dst>
  void alltoall(Src&& src, Dst&& dst, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_blocks<Src, Dst>())
      begin("alltoall", at).alltoall(set_, read_memory("alltoall", src), detail::memory_of(dst));
  }

  /// Combines the values of all members into the root's value. The other values do not change.
  template <class Value, class Op>
  void reduce(Value&& value, Op&& op, int root = 0,
              std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_value<Value>())
      begin("reduce", at), combined(value, static_cast<Op&&>(op), counted(root), true);
  }
  /// Combines the values of all members into the value of each.
  template <class Value, class Op>
  void allreduce(Value&& value, Op&& op, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_value<Value>())
      begin("allreduce", at), combined(value, static_cast<Op&&>(op), everywhere, true);
  }

  /// Combines the elements of all members, one by one, into `data` of the root. The `data` of other
  /// members is undefined afterwards.
  template <class Data, class Op>
  void combine(Data&& data, Op&& op, int root = 0,
               std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_data<Data>())
      begin("combine", at), combined(data, static_cast<Op&&>(op), counted(root), false);
  }
  /// Combines the elements of all members, one by one, into `data` of each.
  template <class Data, class Op>
  void allcombine(Data&& data, Op&& op, std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_data<Data>())
      begin("allcombine", at), combined(data, static_cast<Op&&>(op), everywhere, false);
  }

 private:
  friend class context;
  // For context, whose set contains all processes.
  explicit subset(std::shared_ptr<detail::bsp_section> section)
      : section_(std::move(section)), set_(section_->all_processes()) {}

  // The beginning of a call of the program.
  detail::bsp_section& begin(const char* operation, const std::source_location& at) const {
    section_->note(at);
    section_->validate_thread(operation);
    return *section_;
  }

  // Copies a value at once; the sync reads a container.
  template <class Src>
  detail::bsp_memory read_memory(const char* operation, Src& src) {
    detail::bsp_memory memory = detail::memory_of(src);
    if constexpr (detail::argument_shape_of<Src>() == detail::argument_shape::single)
      memory.data =
          const_cast<void*>(section_->keep_until_sync(operation, memory.data, sizeof(Src), alignof(Src)));
    return memory;
  }

  subset(std::shared_ptr<detail::bsp_section> section, const detail::bsp_set& set)
      : section_(std::move(section)), set_(set) {}

  static constexpr int everywhere = -1;
  // A root below 0 must not stand for all processes, so it becomes a number that no member has.
  static constexpr int counted(int root) noexcept { return root < 0 ? 0x7fffffff : root; }

  template <class Data, class Op>
  void combined(Data& data, Op&& op, int root, bool single_element) {
    using element = detail::element_type<Data>;
    if constexpr (detail::validate_op<element, Op>())
      section_->combine(set_, detail::memory_of(data), element_of<element>(),
                        detail::operation_until_sync<element>(*section_, static_cast<Op&&>(op)), root,
                        single_element);
  }

  void end() noexcept {
    if (section_) section_->end_set(set_.number);
  }

  std::shared_ptr<detail::bsp_section> section_;
  detail::bsp_set set_;
};

/// The cost of a superstep on this machine: h g + l seconds, if no process sends or receives more
/// than h bytes.
struct costs {
  double g;  ///< seconds per byte
  double l;  ///< seconds per superstep
};

/// One process of a bulk-synchronous program, or of a bulk-synchronous part of a program. It offers
/// slots, puts, gets, syncs, and the collectives of all processes (subset). bsp::run() passes one
/// to each process. A program of ranks constructs one from a communicator, whose ranks become the
/// processes.
///
/// Only the thread that runs its process uses a context: a call from another thread throws
/// usage_error, and the process has then not failed. A slot that another thread destroys stays
/// registered. A process may have several contexts. Each has its own supersteps, and all processes
/// sync the contexts in the same order.
///
/// **Errors.** Throws usage_error if a call is wrong. The call throws at once if this process can
/// see the error, else the sync throws it. The text names the call, process, parameter and remedy.
/// From then on the context of this process has failed, and its calls throw the same error again.
/// The next sync of the other processes throws peer_error. A sync also throws peer_error if another
/// process has destroyed its context. Memory of another type, const memory, and elements that are
/// not trivially copyable do not compile. Registers and queues grow as needed; they throw
/// std::bad_alloc if no memory is left.
///
/// ```cpp
/// #include <tutti/bsp.hpp>
/// bsp::context ctx(world);  // collective
/// std::vector<double> mine = {1.0 * ctx.pid(), 2.0}, theirs(2);
/// bsp::global_slot<double> area = ctx.registered(mine);
/// ctx.sync();
/// ctx.get((ctx.pid() + 1) % ctx.nprocs(), area, 0, theirs);
/// ctx.sync();
/// assert(theirs[0] == (ctx.pid() + 1) % ctx.nprocs());
/// ```
class context : public subset {
 public:
  /// Collective. Duplicates the communicator, so that its traffic is separate from the rest of the
  /// program. Costs communicator::duplicate() and a few more messages. The first context of a job
  /// also measures cost(), which takes some milliseconds.
  explicit context(const communicator& ranks, std::source_location at = std::source_location::current())
      : subset(section_of(ranks, at)), exceptions_at_construction_(std::uncaught_exceptions()) {}
  /// Collective: waits until the other processes destroy theirs. During stack unwinding it does not
  /// wait. The exception must then end the job, because the other processes get no error in their
  /// sync (over MPI they wait).
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  /// Registers memory of any size, which may differ between processes, for the puts and gets of
  /// all. Collective: all processes register and end global slots in the same order. The slot can
  /// be used after the next sync. O(1), no message.
  template <class Area>
  [[nodiscard]] auto registered(Area&& area, std::source_location at = std::source_location::current()) {
    using made = global_slot<detail::element_type<Area>>;
    if constexpr (detail::validate_area<Area>())
      return begin("registered", at), made(section_, detail::memory_of(area));
  }
  /// Registers memory that only this process uses, at once: memory that collectives use repeatedly.
  /// Local.
  template <class Area>
  [[nodiscard]] auto registered_locally(Area&& area,
                                        std::source_location at = std::source_location::current()) {
    using made = local_slot<detail::element_type<Area>>;
    if constexpr (detail::validate_area<Area>())
      return begin("registered_locally", at), made(section_, detail::memory_of(area));
  }

  /// Schedules a copy of `src` to the slot of process `dst_pid`, from element `dst_offset` on. A
  /// value is copied at once. A container or view is read at the sync and must live until then. If
  /// several puts and gets of a superstep write to one place, they take effect in an unspecified
  /// order. Memory that one operation writes must not be read by another of the same superstep.
  /// O(1).
  template <class Src, class Slot>
  void put(Src&& src, int dst_pid, const Slot& dst_slot, std::size_t dst_offset = 0,
           std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_src<Src>())
      if constexpr (detail::validate_dst_slot<Slot, Src>()) {
        section_->note(at);
        section_->put(read_memory("put", src), dst_pid, dst_slot.number(), dst_offset);
      }
  }
  /// Schedules a copy into `dst` from the slot of process `src_pid`, from element `src_offset` on.
  /// It copies as many elements as `dst` has.
  template <class Slot, class Dst>
  void get(int src_pid, const Slot& src_slot, std::size_t src_offset, Dst&& dst,
           std::source_location at = std::source_location::current()) {
    if constexpr (detail::validate_dst<Dst>())
      if constexpr (detail::validate_src_slot<Slot, Dst>()) {
        section_->note(at);
        section_->get(src_pid, src_slot.number(), src_offset, detail::memory_of(dst));
      }
  }

  /// Ends the superstep. Returns when everything that this process sends and receives has arrived.
  /// Collective. Costs a small allreduce and the scheduled operations. Throws usage_error if a put
  /// or get exceeds its slot on the other process. Throws peer_error if another process has failed
  /// or no longer syncs.
  void sync(std::source_location at = std::source_location::current()) {
    section_->note(at);
    section_->sync();
  }

  /// The processes lo, lo + stride, lo + 2 stride, ... below hi. Only these processes call it,
  /// equally often and with the same arguments. The subset can be used after the next sync. Local,
  /// no message. Throws usage_error if the caller is not one of them or if the range is invalid.
  [[nodiscard]] subset members(int lo, int hi, int stride = 1,
                               std::source_location at = std::source_location::current()) {
    return subset(section_, begin("members", at).make_set(lo, hi, stride));
  }

  /// The cost for messages of at least `message_bytes`. The library measures it once for each
  /// engine. Both fields are positive and the same on all processes. Local.
  costs cost(std::size_t message_bytes = 8) const noexcept {
    const machine_costs& f = abi::measured(section_->process());
    return {f.seconds_per_byte(message_bytes), f.seconds_per_superstep(static_cast<std::size_t>(nprocs()))};
  }

  /// For run(): uses the communicator itself, since it has no other traffic.
  struct on_itself {};
  /// Collective.
  context(const communicator& ranks, on_itself)
      : subset(std::make_shared<detail::bsp_section>(ranks)),
        exceptions_at_construction_(std::uncaught_exceptions()) {}

 private:
  static std::shared_ptr<detail::bsp_section> section_of(const communicator& ranks,
                                                         const std::source_location& at) {
    const detail::enclosing_call scope(detail::impl_of(ranks), "bsp::context", at);
    detail::validate_entry(detail::at_call_site(detail::impl_of(ranks), at), "bsp::context");
    return std::make_shared<detail::bsp_section>(ranks.duplicate(at));
  }

  int exceptions_at_construction_;
};

/// Calls `program(context&)` on every process, and returns when all have returned. It is
/// tutti::run() of a program that has only a context. Returns 0; 1 if a process threw; 2 if the
/// processes could not be created.
template <class Program>
int run(int argc, char** argv, Program&& program) {
  return tutti::run(argc, argv, [&](communicator& world) {
    context ctx(world, context::on_itself{});
    program(ctx);
  });
}
/// The same with options, for programs that handle the exception: throws rank_error if a process
/// threw.
///
/// ```cpp
/// #include <tutti/bsp.hpp>
///
/// int main() {
///   tutti::run_options options;
///   options.engine = "fibers";
///   options.ranks = 12;
///   int last = 0;
///   tutti::bsp::run(options, [&](tutti::bsp::context& ctx) {
///     if (ctx.pid() == ctx.nprocs() - 1) last = ctx.pid();
///   });
///   assert(last == 11);
/// }
/// ```
template <class Program>
void run(const run_options& options, Program&& program) {
  tutti::run(options, [&](communicator& world) {
    context ctx(world, context::on_itself{});
    program(ctx);
  });
}

}  // namespace tutti::bsp
TUTTI_API_END
