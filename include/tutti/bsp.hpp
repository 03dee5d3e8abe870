// SPDX-License-Identifier: Apache-2.0
//
// Bulk-synchronous programs in C++: processes work on memory of their own, write to and read from one
// another's, and meet in sync(). What was scheduled between two of these meetings, a superstep, is complete
// after the second. Not included by tutti.hpp. Longer than a file should be: one class, each call with its
// contract.
//
// Only sync(), what makes a context, and its end wait for others, so a program cannot deadlock. LPF's C
// interface (lpf/core.h) is another face of the same engine.
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
//     for (int k = 0; k < p; ++k) ctx.put(10 * me, k, there, me);  // to element `me` of process k's vector
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
#include <utility>

#include "tutti/communicator.hpp"
#include "tutti/core/bsp.hpp"
#include "tutti/face/bsp_memory.hpp"
#include "tutti/face/bsp_section.hpp"
#include "tutti/run.hpp"

namespace tutti::bsp {

/// Memory of this process that is registered, as a contiguous container of T; movable, not copyable. It must
/// stay where it is until the slot ends.
///
/// The end of a slot ends the registration, at once: a put or get of this superstep must not use it, so it
/// ends behind the sync. Ending a global one is collective like making it: all processes end theirs in the
/// same order among all that they register and end. Where all run the same scopes, destructors do.
template <class T, bool Global>
class registration {
 public:
  using value_type = T;  ///< of the elements

  /// Of nothing.
  registration() noexcept = default;
  registration(registration&& other) noexcept
      : section_(std::move(other.section_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        number_(std::exchange(other.number_, no_slot)) {}
  /// Ends what this one was before.
  registration& operator=(registration&& other) noexcept {
    if (this != &other) {
      deregister();
      section_ = std::move(other.section_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      number_ = std::exchange(other.number_, no_slot);
    }
    return *this;
  }
  ~registration() { deregister(); }

  /// Ends it before its destructor would. O(1), no message.
  void deregister() noexcept {
    if (number_ != no_slot) section_->remove(number_);
    section_.reset();
    data_ = nullptr;
    size_ = 0;
    number_ = no_slot;
  }

  /// The memory of this process.
  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }  ///< elements
  T* begin() const noexcept { return data_; }          ///< the first
  T* end() const noexcept { return data_ + size_; }    ///< behind the last
  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Its number, for reports; global slots have the same on all processes.
  slot number() const noexcept { return number_; }

 private:
  friend class context;
  registration(std::shared_ptr<detail::bsp_section> section, const detail::bsp_memory& area)
      : section_(std::move(section)),
        data_(static_cast<T*>(area.data)),
        size_(area.count),
        number_(section_->add(Global, area)) {}

  std::shared_ptr<detail::bsp_section> section_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  slot number_ = no_slot;
};

/// What others write to and read from.
template <class T>
using global_slot = registration<T, true>;
/// What this process alone uses.
template <class T>
using local_slot = registration<T, false>;

/// Processes that make collectives together, numbered 0 .. nprocs() - 1 among themselves.
///
/// All members call the same collectives of a subset in the same order; those that are not members call
/// nothing but sync(). Each is scheduled, and complete after the next sync, of which there is one however
/// many collectives, puts and gets there are: what is read may not change until then, and what is written is
/// undefined until then. Nothing that one of them writes may another of the same superstep read or write.
///
/// Memory is a container that stays where it is until the sync, a slot among them, a view as std::span, or a
/// variable, which is one element; it need not be registered. Elements are trivially copyable, and of one
/// type in a call. Counts are those of the containers, and fit together on all members; memory that is not
/// used may be empty. An `op` is a callable that makes one element of two; it is associative and commutative,
/// is applied in any order, and is kept until the sync. Those that are known by name (std::plus<> and the
/// others of tutti/ops.hpp) run as quickly as in other calls of tutti.
///
/// Costs are those of tutti's collectives, in the sync.
///
/// Throws usage_error where a root is no member, and where counts are seen not to fit; see context. Where
/// members call something different the sync throws mismatch_error, or what else tutti's calls throw then.
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
  /// Local. Its calls are completed by the next sync all the same.
  ~subset() { end(); }

  int pid() const noexcept { return set_.pid; }        ///< of the caller, among the members
  int nprocs() const noexcept { return set_.nprocs; }  ///< how many members

  /// `data` of the root goes to that of all others.
  template <class Data>
  void broadcast(Data&& data, int root = 0) {
    if constexpr (detail::check_data<Data>()) section_->broadcast(set_, detail::memory_of(data), root);
  }

  /// `src` of all, one behind the other in the order of members, goes to `dst` of the root; the others' is
  /// not used. The root's src may be its own block of dst.
  template <class Src, class Dst>
  void gather(Src&& src, Dst&& dst, int root = 0) {
    if constexpr (detail::check_blocks<Src, Dst>())
      section_->gather(set_, read_memory(src), detail::memory_of(dst), root);
  }

  /// Blocks of `src` of the root go to `dst` of each, in the order of members; the others' src is not used.
  /// The root's dst may be its own block of src.
  template <class Src, class Dst>
  void scatter(Src&& src, Dst&& dst, int root = 0) {
    if constexpr (detail::check_blocks<Src, Dst>())
      section_->scatter(set_, read_memory(src), detail::memory_of(dst), root);
  }

  /// `src` of all, one behind the other in the order of members, goes to `dst` of all. src may be the own
  /// block of dst.
  template <class Src, class Dst>
  void allgather(Src&& src, Dst&& dst) {
    if constexpr (detail::check_blocks<Src, Dst>())
      section_->allgather(set_, read_memory(src), detail::memory_of(dst));
  }

  /// Block k of `src` goes to member k, into the block of `dst` that has the number of the sender.
  template <class Src, class Dst>
  void alltoall(Src&& src, Dst&& dst) {
    if constexpr (detail::check_blocks<Src, Dst>())
      section_->alltoall(set_, read_memory(src), detail::memory_of(dst));
  }

  /// The values of all, combined, stand in the root's; the others' stay as they are.
  template <class Value, class Op>
  void reduce(Value&& value, Op&& op, int root = 0) {
    if constexpr (detail::check_value<Value>()) combined(value, static_cast<Op&&>(op), counted(root), true);
  }
  /// The same on all members.
  template <class Value, class Op>
  void allreduce(Value&& value, Op&& op) {
    if constexpr (detail::check_value<Value>()) combined(value, static_cast<Op&&>(op), everywhere, true);
  }

  /// The elements of all, combined one by one, stand in `data` of the root; the others' is undefined then.
  template <class Data, class Op>
  void combine(Data&& data, Op&& op, int root = 0) {
    if constexpr (detail::check_data<Data>()) combined(data, static_cast<Op&&>(op), counted(root), false);
  }
  /// The same on all members.
  template <class Data, class Op>
  void allcombine(Data&& data, Op&& op) {
    if constexpr (detail::check_data<Data>()) combined(data, static_cast<Op&&>(op), everywhere, false);
  }

 private:
  friend class context;
  // For context, whose set is that of all.
  explicit subset(std::shared_ptr<detail::bsp_section> section)
      : section_(std::move(section)), set_(section_->everybody()) {}

  // A value is copied, a container read at the sync.
  template <class Src>
  detail::bsp_memory read_memory(Src& src) {
    detail::bsp_memory seen = detail::memory_of(src);
    if constexpr (detail::nature_of<Src>() == detail::nature::single)
      seen.data = const_cast<void*>(section_->keep(seen.data, sizeof(Src), alignof(Src)));
    return seen;
  }

  subset(std::shared_ptr<detail::bsp_section> section, const detail::bsp_set& set)
      : section_(std::move(section)), set_(set) {}

  static constexpr int everywhere = -1;
  // A root below 0 is none either, and shall not mean all.
  static constexpr int counted(int root) noexcept { return root < 0 ? 0x7fffffff : root; }

  template <class Data, class Op>
  void combined(Data& data, Op&& op, int root, bool whole) {
    using element = detail::element_type<Data>;
    if constexpr (detail::check_op<element, Op>())
      section_->combine(set_, detail::memory_of(data), element_of<element>(),
                        detail::operation_until_sync<element>(*section_, static_cast<Op&&>(op)), root, whole);
  }

  void end() noexcept {
    if (section_) section_->end_set(set_.number);
  }

  std::shared_ptr<detail::bsp_section> section_;
  detail::bsp_set set_;
};

/// What a superstep costs on this machine: h g + l seconds, where no process sends or receives more than h
/// bytes.
struct costs {
  double g;  ///< seconds a byte
  double l;  ///< seconds a superstep
};

/// One process of a bulk-synchronous program, or of such a part of a program: its slots, puts, gets and
/// syncs, and the collectives of all processes (subset). bsp::run() gives one to each process; inside of a
/// program of ranks it is made of a communicator, whose ranks are the processes.
///
/// A process uses its contexts alone. It may have several: each has supersteps of its own, and all processes
/// sync them in the same order.
///
/// **Errors.** usage_error where a call can be seen to be wrong, at once, or in the sync where another
/// process sees it; the text names call, process, parameter and remedy. From then on this process's context
/// fails: its calls throw the same again, and the others' next sync throws peer_error. So does a sync while
/// another process has come to the end of its context. What is of another type, const, or not trivially
/// copyable does not compile. Registers and queues grow by themselves; std::bad_alloc where there is no
/// memory.
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
  /// Collective. Works on a duplicate, so that nothing meets other traffic of the program. Costs
  /// communicator::duplicate(), and a few more messages; the first one of a job measures cost(), in some
  /// milliseconds.
  explicit context(const communicator& ranks) : context(ranks.duplicate(), on_itself{}) {}
  /// Collective: waits until the others end theirs. Where an exception passes by, it waits for nobody: the
  /// exception shall end the job, since the others' sync learns nothing (over MPI it waits).
  ~context();
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  /// Registers memory, as much as each process likes, for the puts and gets of all. Collective: all processes
  /// register and end global slots in the same order. Used after the next sync. O(1), no message.
  template <class Area>
  [[nodiscard]] auto registered(Area&& area) {
    using made = global_slot<detail::element_type<Area>>;
    if constexpr (detail::check_area<Area>()) return made(section_, detail::memory_of(area));
  }
  /// For this process alone, at once: what a collective uses again and again. Local.
  template <class Area>
  [[nodiscard]] auto registered_locally(Area&& area) {
    using made = local_slot<detail::element_type<Area>>;
    if constexpr (detail::check_area<Area>()) return made(section_, detail::memory_of(area));
  }

  /// Schedules: `src` goes to process `dst_pid`, to its element `dst_offset` of the slot and on. A value is
  /// copied at once; a container or view is read at the sync, and stays until then. Where puts and gets of a
  /// superstep write to the same place, the result is that of some order of them; nothing that one writes may
  /// another read. O(1).
  template <class Src, class Slot>
  void put(Src&& src, int dst_pid, const Slot& dst_slot, std::size_t dst_offset = 0) {
    if constexpr (detail::check_src<Src>())
      if constexpr (detail::check_dst_slot<Slot, Src>())
        section_->put(read_memory(src), dst_pid, dst_slot.number(), dst_offset);
  }
  /// Its mirror: as many elements as `dst` has, from element `src_offset` on.
  template <class Slot, class Dst>
  void get(int src_pid, const Slot& src_slot, std::size_t src_offset, Dst&& dst) {
    if constexpr (detail::check_dst<Dst>())
      if constexpr (detail::check_src_slot<Slot, Dst>())
        section_->get(src_pid, src_slot.number(), src_offset, detail::memory_of(dst));
  }

  /// Ends the superstep: returns when all that this process sends and receives is where it belongs.
  /// Collective. A small allreduce, and what was scheduled. usage_error where a put or get does not fit
  /// into its slot on the other process; peer_error where another process has failed, or does not sync any
  /// more.
  void sync(std::source_location at = std::source_location::current()) {
    section_->note(at);
    section_->sync();
  }

  /// The processes lo, lo + stride, lo + 2 stride ... below hi. Called by these alone, by each of them as
  /// often with the same arguments; used after the next sync. Local, no message. usage_error where the caller
  /// is none of them, and where there is no such range.
  [[nodiscard]] subset members(int lo, int hi, int stride = 1) {
    return subset(section_, section_->make_set(lo, hi, stride));
  }

  /// Of messages of so many bytes or more. Measured once for each engine; positive, and the same on all
  /// processes. Local.
  costs cost(std::size_t message_bytes = 8) const noexcept {
    const figures& f = port::measured(section_->process());
    return {f.byte_of(message_bytes), f.superstep_of(static_cast<std::size_t>(nprocs()))};
  }

  /// For run(), whose communicator has no other traffic: works on that itself.
  struct on_itself {};
  /// Collective.
  context(const communicator& ranks, on_itself)
      : subset(std::make_shared<detail::bsp_section>(ranks)), passing_by_(std::uncaught_exceptions()) {}

 private:
  int passing_by_;
};

/// Calls `program(context&)` on every process, and returns when all have returned: tutti::run() of a program
/// that has a context and nothing else. Returns 0, or 1 where a process threw, or 2 where there could be
/// none.
template <class Program>
int run(int argc, char** argv, Program&& program) {
  return tutti::run(argc, argv, [&](communicator& world) {
    context ctx(world, context::on_itself{});
    program(ctx);
  });
}
/// The same with options, for programs that want the exception: rank_error where a process threw.
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
