// SPDX-License-Identifier: Apache-2.0
//
// Tasks: a program registers its data, each with an owner among the ranks, and inserts tasks that read and
// write them. Who runs a task, what is sent for it and in which order things happen follows: the owner of
// what is written runs it, and the result is that of running the tasks one after the other as they were
// inserted. Not included by tutti.hpp. Longer than a file should be: one class, each call with its contract.
//
// All ranks that a task concerns insert it, in the same order: those that own, hold or run any of its data.
// Others may leave it out, or insert it too, which costs a look.
//
// Sources: Augonnet and others 2012 (StarPU-MPI); its documented functions have their counterparts here.
//
// ```cpp
// #include <tutti/tasks.hpp>
//
// int main(int argc, char** argv) {
//   return tutti::run(argc, argv, [](tutti::communicator& world) {
//     namespace tasks = tutti::tasks;
//     const int p = world.size(), me = world.rank();
//     tasks::runtime rt(world);
//     std::vector<unsigned> mine(p, 1);                  // one number for each rank; it owns its own
//     std::vector<tasks::handle<unsigned>> all;
//     for (int r = 0; r < p; ++r) all.push_back(r == me ? rt.data(mine[r], r) : rt.data<unsigned>(r));
//     for (int r = 1; r < p; ++r)                        // rank r adds what rank r - 1 has
//       rt.insert([](unsigned& x, unsigned before) { x += before; }, tasks::read_write(all[r]),
//       tasks::read(all[r - 1]));
//     rt.wait_all();
//     assert(mine[me] == static_cast<unsigned>(me + 1));
//   });
// }
// ```
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/core/tasks.hpp"
#include "tutti/face/task_arguments.hpp"
#include "tutti/face/task_objects.hpp"
#include "tutti/run.hpp"
#include "tutti/status.hpp"

namespace tutti::tasks {

/// One rank's part of a task program over the ranks of a communicator. Several may exist at once, over the
/// same or other communicators.
///
/// Used by its rank's own thread. A kernel uses the data that it is given: calls of a runtime or of
/// a communicator throw usage_error in it, on whichever thread it runs. Communication goes on in
/// every call of the runtime and in every wait of the rank; kernels run while the rank waits in a call of the
/// runtime, and on the other workers at any time.
///
/// **Errors.** usage_error where a call can be seen to be wrong: nothing was inserted then. A kernel that
/// throws: what it should have written is spoilt, tasks that would read that are not run, on any rank, and
/// wait_all() (or what else waits for it) throws task_error, once; what overwrites the data makes them good
/// again. mismatch_error where another rank has come to the end of its runtime without inserting what this
/// one waits for.
///
/// ```cpp
/// #include <tutti/tasks.hpp>
/// tasks::runtime rt(world);
/// double x = 2;
/// auto h = world.is_root() ? rt.data(x, 0) : rt.data<double>(0);
/// const int last = world.size() - 1;
/// rt.insert([](double& y) { y *= 21; }, tasks::on(last), tasks::read_write(h));  // there and back
/// rt.wait_all();
/// assert(!world.is_root() || x == 42);
/// ```
class runtime {
 public:
  /// Collective. Works on a duplicate, so that nothing meets other traffic of the program. usage_error where
  /// the communicator joins two groups, or has neighbours only; engine_error where `workers` is more than one
  /// and what runs them was not built.
  explicit runtime(const communicator& ranks, const options& how = {})
      : flow_(port::open(ranks.native(), how, __FILE__)), passing_by_(std::uncaught_exceptions()) {}
  /// Waits for everything, of all ranks; collective. An exception that is pending is told and ends the job.
  /// Where an exception passes by, nothing runs any more: if nothing is under way and the others come to the
  /// end within a tenth of a second, they part in peace; else the job ends.
  ~runtime() { port::close(flow_, std::uncaught_exceptions() > passing_by_); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  int rank() const noexcept { return port::rank(*flow_); }  ///< in the communicator
  int size() const noexcept { return port::size(*flow_); }  ///< of the communicator
  int workers() const noexcept {
    return port::workers(*flow_);
  }  ///< that run kernels here, the rank itself among them

  // --- data

  /// Registers a variable, or a view or contiguous container as handle<std::span<E>>: this rank has the
  /// contents, or is to get them here; it stays where it is as long as the runtime. `owner`: the rank that
  /// keeps it up to date, and runs the tasks that write it. Ranks make data in the same order, or give them
  /// tags. O(1), no message. usage_error where the owner is no rank.
  template <class... Tag>
  [[nodiscard]] auto data(auto&& object, int owner,
                          Tag... tag) requires(!std::is_const_v<std::remove_reference_t<decltype(object)>>) {
    using Object = decltype(object);
    static_assert((std::is_same_v<Tag, with_tag> && ...) && sizeof...(Tag) <= 1,
                  "tutti: data: give an owner and with_tag(t)");
    if constexpr (std::ranges::contiguous_range<Object>) {
      using element = std::remove_reference_t<std::ranges::range_reference_t<Object>>;
      static_assert(std::is_lvalue_reference_v<Object> || std::ranges::borrowed_range<Object>,
                    "tutti: data: a temporary container: it would be gone at once");
      return make<std::span<element>>(std::ranges::data(object), std::ranges::size(object), owner, tag...);
    } else {
      static_assert(
          std::is_lvalue_reference_v<Object>,
          "tutti: data: a temporary: it would be gone at once; rt.data<T>(owner) has memory of its own");
      return make<std::remove_reference_t<Object>>(&object, 1, owner, tag...);
    }
  }
  /// Of a datum whose memory is elsewhere, or is the runtime's: allocated when first needed,
  /// value-initialised where this rank is the owner.
  template <class T, class... Tag>
  [[nodiscard]] handle<T> data(int owner, Tag... tag) {
    static_assert(!typed::held<T>::is_span,
                  "tutti: data: a span: give the number of elements, rt.data<std::span<E>>(owner, count)");
    return make<T>(nullptr, 1, owner, tag...);
  }
  template <class T, std::integral Count, class... Tag>
  [[nodiscard]] handle<T> data(int owner, Count count, Tag... tag) {
    static_assert(typed::held<T>::is_span, "tutti: data: a count, but T is no span");
    if constexpr (std::is_signed_v<Count>)
      if (count < 0) port::refuse(*flow_, "data", "count", "is below 0", "give the number of elements");
    return make<T>(nullptr, static_cast<std::size_t>(count), owner, tag...);
  }
  /// Waits for what uses the datum on this rank, and forgets it here; received copies are freed. Handles of
  /// it are dangling then. Its tag may be given again.
  template <class T>
  void remove(handle<T>& h) {
    port::remove(*flow_, h.native());
    h = {};
  }

  /// The number by which ranks know the datum: its tag, or its place in the order of creation.
  template <class T>
  long tag(const handle<T>& h) const {
    return port::tag_of(checked(h, "tag"));
  }
  /// Gives it a tag, before it is used. One that was made last of all gives its number to the next one.
  template <class T>
  void set_tag(const handle<T>& h, long tag) {
    port::set_tag(*flow_, checked(h, "set_tag"), tag);
  }
  /// The owner.
  template <class T>
  int rank(const handle<T>& h) const {
    return port::extent_of(checked(h, "rank")).owner;
  }
  /// Another owner from here on; called by all ranks that have the datum, in the same place among what they
  /// insert. The contents go there when next used, or by scatter(), or before they go on to one more owner.
  template <class T>
  void set_rank(const handle<T>& h, int owner) {
    port::set_owner(*flow_, checked(h, "set_rank"), owner);
  }
  /// How many elements the datum has.
  template <class T>
  std::size_t count(const handle<T>& h) const {
    return port::extent_of(checked(h, "count")).count;
  }

  // --- tasks

  /// Inserts a task: `kernel` is a callable, `arguments` the data it uses as read(h), write(h),
  /// read_write(h), reduce(h, op), reduce(h, op, neutral(v)), in the order of its parameters, and in any
  /// place on(rank), on_owner_of(h), after(tag), name("...").
  ///
  /// Who runs it: who is named; else the owner of what is written; else, where it only reads, the owner of
  /// all that; without data, each rank that inserts it. usage_error where several owners would have to.
  ///
  /// Returns before it has run. The callable is moved or copied where it is run. O(data), no message waited
  /// for.
  template <class Kernel, class... Arguments>
  void insert(Kernel&& kernel, const Arguments&... arguments) {
    using kernel_type = std::decay_t<Kernel>;
    using uses_type = typed::uses_among<Arguments...>;
    if constexpr (typed::check_arguments<Arguments...>())
      if constexpr (typed::check_kernel<kernel_type>(uses_type())) {
        using code_type = typed::code_type<kernel_type, uses_type>;
        std::array<use, uses_type::count + 1> uses;
        wishes w;
        std::size_t n = 0;
        (note(arguments, w, uses.data(), n), ...);
        if (void* room = port::begin(*flow_, uses.data(), n, w, code_type::value)) {
          code_type::make(room, std::forward<Kernel>(kernel), arguments...);
          port::submit(*flow_);
        }
      }
  }

  /// Until all that this rank has inserted is done; runs tasks. Then owned data may be used by the program.
  /// It ends reductions: ranks that have contributed to data of one that calls it call it too. Throws
  /// task_error; usage_error where what is left can never be done (an acquired view is held, a tag is not
  /// unlocked).
  void wait_all(std::source_location at = std::source_location::current()) { port::wait_all(noted(at)); }
  /// Tasks that wait for this tag may run: as a transfer does that was given unlock(tag).
  void unlock(std::uint64_t tag) { port::unlock(*flow_, tag); }
  /// Returns when all ranks have called it. Tasks and transfers go on meanwhile; it does not wait for them.
  void barrier(std::source_location at = std::source_location::current()) { port::barrier(noted(at)); }
  /// Sends what is ready and takes in what has come. Runs no kernel.
  void progress(std::source_location at = std::source_location::current()) { port::progress(noted(at)); }

  /// The program's own use of a datum, in its place among the tasks: waits for those before, and holds those
  /// behind as long as the view lives. `how`: access::read, write or read_write. usage_error where this rank
  /// has no up-to-date copy, or the owner has changed and the contents have not come to it (fetch() in both
  /// cases). Writing is for the owner; ranks that hold copies must flush() then.
  template <class T>
  [[nodiscard]] view<T, true> acquire(const handle<T>& h, access::read_t,
                                      std::source_location at = std::source_location::current()) {
    noted(at);
    return acquired<true>(h, use_mode::read);
  }
  template <class T>
  [[nodiscard]] view<T, false> acquire(const handle<T>& h, access::write_t,
                                       std::source_location at = std::source_location::current()) {
    noted(at);
    return acquired<false>(h, use_mode::write);
  }
  template <class T>
  [[nodiscard]] view<T, false> acquire(const handle<T>& h, access::read_write_t,
                                       std::source_location at = std::source_location::current()) {
    noted(at);
    return acquired<false>(h, use_mode::read_write);
  }

  // --- data to other ranks

  /// The contents go to `rank`, unless they are there. Called by the owner and by that rank at least.
  template <class T>
  void fetch(const handle<T>& h, int rank, std::source_location at = std::source_location::current()) {
    port::fetch(noted(at), h.native(), rank);
  }
  /// Data whose contents stand at `root` go to their owners, and are not kept there; collective, over a range
  /// of handles of one type, some of which may be empty on ranks that are not concerned. Up to 1 KiB go by a
  /// binomial tree where there are four ranks or more. usage_error where the root has no contents.
  template <class Handles>
  void scatter(const Handles& handles, int root, std::source_location at = std::source_location::current()) {
    noted(at);
    each(handles, [&](auto* d, std::size_t n) { port::scatter(*flow_, d, n, root); });
  }
  /// Data of all owners go to `root`, whatever it has of them, to be looked at there; a task there that reads
  /// them is sent them again. Collective, by the same tree. usage_error where the root has an empty handle.
  template <class Handles>
  void gather(const Handles& handles, int root, std::source_location at = std::source_location::current()) {
    noted(at);
    each(handles, [&](auto* d, std::size_t n) { port::gather(*flow_, d, n, root); });
  }

  /// Whether copies are kept; called by all ranks in the same place. Off: what is received is used once.
  void cache(bool on) { port::set_cache(*flow_, on); }
  /// Copies of the datum are forgotten; called by the owner and by all that hold one, in the same place.
  template <class T>
  void flush(const handle<T>& h) {
    port::flush(*flow_, &checked(h, "flush"));
  }
  /// All copies of all data; called by all ranks.
  void flush() { port::flush(*flow_, nullptr); }

  // --- explicit transfers
  // A send reads the datum, a receive writes it, in their place among the tasks; both ranks ask for theirs.
  // Ranks that hold copies of what a receive writes must flush() then. Tags are from 0 on, and never meet
  // those of data. A receive takes rank::any and tags::any too. usage_error where the peer is no rank or the
  // tag none; mismatch_error where all who could send have come to the end of their runtime.

  /// Returns when it is sent. Runs tasks meanwhile.
  template <class T>
  void send(const handle<T>& h, int dest, int tag,
            std::source_location at = std::source_location::current()) {
    isend(h, dest, tag, at).wait(at);
  }
  /// Returns when it is received. truncation_error where more came than the datum has.
  template <class T>
  tutti::status recv(const handle<T>& h, int src, int tag,
                     std::source_location at = std::source_location::current()) {
    return irecv(h, src, tag, at).wait(at);
  }
  template <class T>
  [[nodiscard]] request isend(const handle<T>& h, int dest, int tag,
                              std::source_location at = std::source_location::current()) {
    noted(at);
    return started(transfer(h, dest, tag), true);
  }
  template <class T>
  [[nodiscard]] request irecv(const handle<T>& h, int src, int tag,
                              std::source_location at = std::source_location::current()) {
    noted(at);
    return started(transfer(h, src, tag), false);
  }

  /// Not waited for but by wait_all(). `then`: nothing, a callable without arguments that is called on this
  /// rank's thread when it is complete, or unlock(tag).
  template <class T, class... Then>
  void isend_detached(const handle<T>& h, int dest, int tag, Then&&... then) {
    detached(std::span<const transfer>({transfer(h, dest, tag)}), true, std::forward<Then>(then)...);
  }
  template <class T, class... Then>
  void irecv_detached(const handle<T>& h, int src, int tag, Then&&... then) {
    detached(std::span<const transfer>({transfer(h, src, tag)}), false, std::forward<Then>(then)...);
  }
  /// Several at once; `then` follows once, when all are complete, also where there are none.
  template <class... Then>
  void isend_detached(std::span<const transfer> all, Then&&... then) {
    detached(all, true, std::forward<Then>(then)...);
  }
  template <class... Then>
  void irecv_detached(std::span<const transfer> all, Then&&... then) {
    detached(all, false, std::forward<Then>(then)...);
  }

  /// What this rank has done so far.
  tasks::statistics statistics() const { return port::told(*flow_); }

  // For the library.
  flow& native() const noexcept { return *flow_; }

 private:
  flow& noted(const std::source_location& at) const noexcept {
    port::note(*flow_, at);
    return *flow_;
  }
  template <class T, class... Tag>
  handle<T> make(void* memory, std::size_t count, int owner, Tag... tag) {
    using element = typed::element_of_held<T>;
    static_assert(!std::is_pointer_v<element>,
                  "tutti: data: T is a pointer, which means nothing elsewhere: give std::span(p, n)");
    constexpr bool plain = std::is_trivially_copyable_v<element> && !std::is_const_v<element>;
    static_assert(plain, "tutti: data: T is not trivially copyable, or const");
    static_assert(!plain || std::is_pointer_v<element> || tutti::detail::travels<element>,
                  "tutti: data: T holds an address (a view, an iterator), which means nothing elsewhere");
    static_assert(alignof(element) <= 64, "tutti: data: T has an alignment of more than 64 bytes");
    extent e{memory, sizeof(element), count, alignof(element), owner, -1};
    ((e.tag = tag.tag), ...);
    if constexpr (sizeof...(Tag) != 0)
      if (e.tag < 0) port::refuse(*flow_, "data", "with_tag", "is below 0", "give tags from 0 on");
    return handle<T>(port::add(*flow_, e));
  }
  template <class T>
  datum& checked(const handle<T>& h, const char* operation) const {
    if (!h) port::refuse(*flow_, operation, "handle", "is empty", "give one that data() has returned");
    return *h.native();
  }

  template <class T, use_mode How>
  static void note(const typed::typed_use<T, How>& u, wishes&, use* uses, std::size_t& n) noexcept {
    uses[n++] = {u.what, How, u.by};
  }
  static void note(typed::on_rank a, wishes& w, use*, std::size_t&) noexcept {
    w.on_said = true;
    w.on = a.rank;
  }
  static void note(typed::on_owner a, wishes& w, use*, std::size_t&) noexcept {
    w.owner_said = true;
    w.on_owner_of = a.what;
  }
  static void note(typed::after_tag a, wishes& w, use*, std::size_t&) noexcept {
    w.waits = true;
    w.after = a.tag;
  }
  static void note(typed::called a, wishes& w, use*, std::size_t&) noexcept { w.name = a.name; }

  template <bool Const, class T>
  view<T, Const> acquired(const handle<T>& h, use_mode how) {
    place at{};
    void* one = port::acquire(*flow_, &checked(h, "acquire"), how, at);
    return view<T, Const>(*flow_, one, at);
  }
  request started(const transfer& t, bool sends) {
    return request(*flow_, port::start(*flow_, t.all, sends));
  }
  template <class... Then>
  void detached(std::span<const transfer> all, bool sends, Then&&... then) {
    static_assert(sizeof...(Then) <= 1, "tutti: detached transfers take one callback, or unlock(tag)");
    static_assert(sizeof(transfer) == sizeof(explicit_transfer));
    follow_up f;
    (follow(f, std::forward<Then>(then)), ...);
    port::detach(*flow_, reinterpret_cast<const explicit_transfer*>(all.data()), all.size(), sends, f);
  }
  static void follow(follow_up& f, unlocks u) {
    f.unlocks = true;
    f.tag = u.tag;
  }
  static void follow(follow_up&, std::nullptr_t) {}
  template <class Callback>
  requires std::invocable<Callback&>
  static void follow(follow_up& f, Callback&& callback) { f.call = std::forward<Callback>(callback); }

  template <class Handles, class Do>
  void each(const Handles& handles, Do&& run) {
    std::vector<datum*> all;
    for (const auto& h : handles) all.push_back(h.native());
    run(all.data(), all.size());
  }

  flow* flow_;
  int passing_by_;
};

}  // namespace tutti::tasks
