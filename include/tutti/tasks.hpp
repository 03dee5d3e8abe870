// SPDX-License-Identifier: Apache-2.0
//
// Tasks. A program registers data, each with an owner among the ranks, and inserts tasks that read
// and write them. The library derives which rank runs a task, what is sent, and the order. The
// owner of the written data runs a task. The result is that of a sequential run of the tasks in the
// order of insertion. tutti.hpp does not include this header.
// Longer than a file should be: one class, each call with its contract.
//
// All ranks that a task concerns insert it, in the same order: those that own, hold or run any of
// its data. Other ranks may omit it, or insert it too, which costs a look-up.
//
// Sources: Augonnet and others 2012 (StarPU-MPI); its documented functions have counterparts here.
//
// ```cpp
// #include <tutti/tasks.hpp>
//
// int main(int argc, char** argv) {
//   return tutti::run(argc, argv, [](tutti::communicator& world) {
//     namespace tasks = tutti::tasks;
//     const int p = world.size(), me = world.rank();
//     tasks::runtime rt(world);
//     std::vector<unsigned> mine(p, 1);  // one number for each rank; it owns its own
//     std::vector<tasks::handle<unsigned>> all;
//     for (int r = 0; r < p; ++r)
//       all.push_back(r == me ? rt.data(mine[r], r) : rt.data<unsigned>(r));
//     for (int r = 1; r < p; ++r)  // rank r adds what rank r - 1 has
//       rt.insert([](unsigned& x, unsigned before) { x += before; }, tasks::read_write(all[r]),
//                 tasks::read(all[r - 1]));
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
#include "tutti/detail/export.hpp"
#include "tutti/detail/task_arguments.hpp"
#include "tutti/detail/task_objects.hpp"
#include "tutti/detail/tasks_abi.hpp"
#include "tutti/run.hpp"
#include "tutti/status.hpp"

TUTTI_API_BEGIN
namespace tutti::tasks {

/// One rank's part of a task program over the ranks of a communicator. Several may exist at once,
/// over the same or other communicators.
///
/// Only the rank's own thread uses it. A kernel uses only the data that it receives: calls of a
/// runtime or of a communicator from a kernel throw usage_error, on every thread. Every call of the
/// runtime and every wait of the rank progresses communication. Kernels run while the rank waits in
/// a call of the runtime, and on the other workers at any time.
///
/// **Errors.** Throws usage_error if a call is wrong; it then has inserted nothing. If a kernel
/// throws, the data that it should have written are invalid, and no rank runs tasks that would read
/// them. wait_all(), or another call that waits for the task, then throws task_error, once. Data
/// become valid again when they are overwritten. Throws mismatch_error if another rank has
/// destroyed its runtime without inserting what this one waits for.
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
  /// Collective. Works on a duplicate of the communicator, so that its traffic is separate. Throws
  /// usage_error if the communicator is an intercommunicator, or has only neighbors. Throws
  /// engine_error if `workers` is more than one and the library was built without a worker pool.
  explicit runtime(const communicator& ranks, const options& how = {},
                   std::source_location at = std::source_location::current())
      : graph_(abi::open(detail::at_call_site(detail::impl_of(ranks), at), how, __FILE__)),
        exceptions_at_construction_(std::uncaught_exceptions()) {}
  /// Collective: waits for all work of all ranks. A pending exception is reported and ends the job.
  /// During stack unwinding no more tasks run. If nothing is under way and the other ranks also end
  /// within a tenth of a second, all of them leave normally. Otherwise the job is aborted.
  ~runtime() { abi::close(graph_, std::uncaught_exceptions() > exceptions_at_construction_); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  int rank() const noexcept { return abi::rank(*graph_); }  ///< in the communicator
  int size() const noexcept { return abi::size(*graph_); }  ///< of the communicator
  int workers() const noexcept {
    return abi::workers(*graph_);
  }  ///< that run kernels here, including the rank itself

  // --- data

  /// Registers a variable, or a view or contiguous container as handle<std::span<E>>. This rank has
  /// the contents, or will receive them in this memory, which must not move while the runtime
  /// lives. `owner` is the rank that keeps the data up to date and runs the tasks that write them.
  /// Ranks register data in the same order, or give them tags. O(1), no message. Throws usage_error
  /// if the owner is not a rank.
  template <class... Tag>
  [[nodiscard]] auto data(auto&& object, int owner,
                          Tag... tag) requires(!std::is_const_v<std::remove_reference_t<decltype(object)>>) {
    using Object = decltype(object);
    static_assert((std::is_same_v<Tag, with_tag> && ...) && sizeof...(Tag) <= 1,
                  "tutti: data: pass an owner and with_tag(t)");
    if constexpr (std::ranges::contiguous_range<Object>) {
      using element = std::remove_reference_t<std::ranges::range_reference_t<Object>>;
      static_assert(std::is_lvalue_reference_v<Object> || std::ranges::borrowed_range<Object>,
                    "tutti: data: a temporary container: it would be destroyed at once");
      static_assert(!std::is_const_v<element>,
                    "tutti: data: a view of const elements (std::string_view), which no task could write: "
                    "pass the container that it views");
      // The error above is then the only one.
      using written = std::remove_const_t<element>;
      return make<std::span<written>>(const_cast<written*>(std::ranges::data(object)),
                                      std::ranges::size(object), owner, tag...);
    } else {
      static_assert(std::is_lvalue_reference_v<Object>,
                    "tutti: data: a temporary: it would be destroyed at once; rt.data<T>(owner) allocates "
                    "its own memory");
      return make<std::remove_reference_t<Object>>(&object, 1, owner, tag...);
    }
  }
  /// Registers data whose memory is on another rank, or belongs to the runtime. The runtime
  /// allocates it when it is first needed, value-initialized if this rank is the owner.
  template <class T, class... Tag>
  [[nodiscard]] handle<T> data(int owner, Tag... tag) {
    static_assert(!typed::data_traits<T>::is_span,
                  "tutti: data: a span: pass the number of elements, rt.data<std::span<E>>(owner, count)");
    return make<T>(nullptr, 1, owner, tag...);
  }
  template <class T, std::integral Count, class... Tag>
  [[nodiscard]] handle<T> data(int owner, Count count, Tag... tag) {
    static_assert(typed::data_traits<T>::is_span, "tutti: data: a count, but T is not a span");
    if constexpr (std::is_signed_v<Count>)
      if (count < 0) abi::reject(*graph_, "data", "count", "is below 0", "pass the number of elements");
    return make<T>(nullptr, static_cast<std::size_t>(count), owner, tag...);
  }
  /// Waits for the uses of the data on this rank, and unregisters them here; received copies are
  /// freed. Handles of the data then dangle. Their tag may be used again.
  template <class T>
  void remove(handle<T>& h) {
    abi::remove(*graph_, handle_access::data_of(h));
    h = {};
  }

  /// The number by which ranks identify the data: the tag, or the index in the order of
  /// registration.
  template <class T>
  long tag(const handle<T>& h) const {
    return abi::tag_of(validated(h, "tag"));
  }
  /// Sets the tag, before the data are used. If these data were registered last, the next data get
  /// their index.
  template <class T>
  void set_tag(const handle<T>& h, long tag) {
    abi::set_tag(*graph_, validated(h, "set_tag"), tag);
  }
  /// The owner.
  template <class T>
  int rank(const handle<T>& h) const {
    return abi::extent_of(validated(h, "rank")).owner;
  }
  /// Changes the owner from here on. All ranks that registered the data call it, at the same place
  /// in their order of insertion. The contents move to the new owner at the next use, by scatter(),
  /// or before another change of owner.
  template <class T>
  void set_rank(const handle<T>& h, int owner) {
    abi::set_owner(*graph_, validated(h, "set_rank"), owner);
  }
  /// How many elements the data have.
  template <class T>
  std::size_t count(const handle<T>& h) const {
    return abi::extent_of(validated(h, "count")).count;
  }

  // --- tasks

  /// Inserts a task. `kernel` is a callable. `arguments` are the data that it uses, in the order of
  /// its parameters: read(h), write(h), read_write(h), reduce(h, op), reduce(h, op, neutral(v)). At
  /// any position there may be on(rank), on_owner_of(h), after(tag), name("...").
  ///
  /// The named rank runs it; else the owner of the written data; else, if it only reads, the owner
  /// of all its data. Without data, each rank that inserts it runs it. Throws usage_error if
  /// several owners would have to run it.
  ///
  /// Returns before the task has run. The callable is moved or copied on the rank that runs it.
  /// O(number of data); does not wait for a message.
  template <class Kernel, class... Arguments>
  void insert(Kernel&& kernel, const Arguments&... arguments) {
    using kernel_type = std::decay_t<Kernel>;
    using uses_type = typed::uses_among<Arguments...>;
    if constexpr (typed::validate_arguments<Arguments...>())
      if constexpr (typed::validate_kernel<kernel_type>(uses_type())) {
        using typed_kernel = typed::typed_kernel_for<kernel_type, uses_type>;
        std::array<use, uses_type::count + 1> uses;
        task_options w;
        std::size_t n = 0;
        (note(arguments, w, uses.data(), n), ...);
        if (void* closure = abi::begin(*graph_, uses.data(), n, w, typed_kernel::value)) {
          typed_kernel::make(closure, std::forward<Kernel>(kernel), arguments...);
          abi::submit(*graph_);
        }
      }
  }

  /// Runs tasks until everything that this rank has inserted is done. The program may then use
  /// owned data. It ends reductions: if a rank calls it that owns reduced data, the ranks that
  /// contributed call it too. Throws task_error. Throws usage_error if the remaining work can never
  /// be done (a view is still acquired, a tag is not unlocked).
  void wait_all(std::source_location at = std::source_location::current()) { abi::wait_all(noted(at)); }
  /// Releases the tasks that wait for this tag. A transfer with unlock(tag) does the same.
  void unlock(std::uint64_t tag) { abi::unlock(*graph_, tag); }
  /// Returns when all ranks have called it. Tasks and transfers continue meanwhile; it does not
  /// wait for them.
  void barrier(std::source_location at = std::source_location::current()) { abi::barrier(noted(at)); }
  /// Sends what is ready and receives what has arrived. Runs no kernel.
  void progress(std::source_location at = std::source_location::current()) { abi::progress(noted(at)); }

  /// Gives the program itself access to the data, in order with the tasks. It waits for earlier
  /// tasks, and later ones wait while the view lives. `how` is access::read, write or read_write.
  /// Throws usage_error if this rank has no up-to-date copy. Throws it too if the owner changed and
  /// the contents have not arrived there. fetch() helps in both cases. Only the owner may write;
  /// ranks that hold copies must then flush().
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

  /// Sends the contents to `rank`, unless it has them. The owner and that rank must call it; others
  /// may.
  template <class T>
  void fetch(const handle<T>& h, int rank, std::source_location at = std::source_location::current()) {
    abi::fetch(noted(at), handle_access::data_of(h), rank);
  }
  /// Sends data whose contents are at `root` to their owners; the root keeps no copy. Collective,
  /// over a range of handles of one type. Some handles may be empty on ranks that are not
  /// concerned. With four ranks or more, up to 1 KiB go by a binomial tree. Throws usage_error if
  /// the root has no contents.
  template <class Handles>
  void scatter(const Handles& handles, int root, std::source_location at = std::source_location::current()) {
    noted(at);
    each(handles, [&](auto* d, std::size_t n) { abi::scatter(*graph_, d, n, root); });
  }
  /// Sends the data of all owners to `root` for inspection, even if it already has copies. A task
  /// there that reads them receives them again. Collective, by the same tree. Throws usage_error if
  /// the root has an empty handle.
  template <class Handles>
  void gather(const Handles& handles, int root, std::source_location at = std::source_location::current()) {
    noted(at);
    each(handles, [&](auto* d, std::size_t n) { abi::gather(*graph_, d, n, root); });
  }

  /// Sets whether copies are kept. All ranks call it at the same place. If off, received data are
  /// used once.
  void cache(bool on) { abi::set_cache(*graph_, on); }
  /// Discards the copies of the data. The owner and all ranks that hold a copy call it, at the same
  /// place.
  template <class T>
  void flush(const handle<T>& h) {
    abi::flush(*graph_, &validated(h, "flush"));
  }
  /// Discards all copies of all data. All ranks call it.
  void flush() { abi::flush(*graph_, nullptr); }

  // --- explicit transfers

  // A send reads the data and a receive writes them, in order with the tasks. Both ranks call their
  // part. Ranks that hold copies of what a receive writes must then flush(). Tags are 0 or greater,
  // and never match those of data. A receive may name rank::any and tags::any. The calls throw
  // usage_error if the peer is not a rank or the tag is invalid. They throw mismatch_error if all
  // possible senders have destroyed their runtime.

  /// Returns when the data are sent. Runs tasks meanwhile.
  template <class T>
  void send(const handle<T>& h, int dest, int tag,
            std::source_location at = std::source_location::current()) {
    isend(h, dest, tag, at).wait(at, false);
  }
  /// Returns when the data are received. Throws truncation_error if the message is longer than the
  /// data.
  template <class T>
  tutti::status recv(const handle<T>& h, int src, int tag,
                     std::source_location at = std::source_location::current()) {
    return irecv(h, src, tag, at).wait(at, false);
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

  /// Begins a transfer that only wait_all() waits for. `then` is nothing, unlock(tag), or a
  /// callable without arguments that this rank's thread calls when the transfer is complete.
  template <class T, class... Then>
  void isend_detached(const handle<T>& h, int dest, int tag, Then&&... then) {
    detached(std::span<const transfer>({transfer(h, dest, tag)}), true, std::forward<Then>(then)...);
  }
  template <class T, class... Then>
  void irecv_detached(const handle<T>& h, int src, int tag, Then&&... then) {
    detached(std::span<const transfer>({transfer(h, src, tag)}), false, std::forward<Then>(then)...);
  }
  /// Begins several transfers. `then` follows once, when all are complete, even if there are none.
  template <class... Then>
  void isend_detached(std::span<const transfer> all, Then&&... then) {
    detached(all, true, std::forward<Then>(then)...);
  }
  template <class... Then>
  void irecv_detached(std::span<const transfer> all, Then&&... then) {
    detached(all, false, std::forward<Then>(then)...);
  }

  /// The work of this rank so far.
  tasks::statistics statistics() const { return abi::counts(*graph_); }

 private:
  task_graph& noted(const std::source_location& at) const noexcept {
    abi::note(*graph_, at);
    return *graph_;
  }
  template <class T, class... Tag>
  handle<T> make(void* memory, std::size_t count, int owner, Tag... tag) {
    using element = typed::element_type_of<T>;
    static_assert(!std::is_pointer_v<element>,
                  "tutti: data: T is a pointer, which means nothing elsewhere: pass std::span(p, n)");
    constexpr bool plain = std::is_trivially_copyable_v<element> && !std::is_const_v<element>;
    static_assert(plain, "tutti: data: T is not trivially copyable, or const");
    static_assert(!plain || std::is_pointer_v<element> || tutti::detail::is_sendable<element>,
                  "tutti: data: T holds an address (a view, an iterator), which means nothing elsewhere");
    static_assert(alignof(element) <= 64, "tutti: data: T has an alignment of more than 64 bytes");
    extent e{memory, sizeof(element), count, alignof(element), owner, -1};
    ((e.tag = tag.tag), ...);
    if constexpr (sizeof...(Tag) != 0)
      if (e.tag < 0) abi::reject(*graph_, "data", "with_tag", "is below 0", "pass tags of 0 or more");
    return handle_access::make<T>(abi::add(*graph_, e));
  }
  template <class T>
  data_handle& validated(const handle<T>& h, const char* operation) const {
    if (!h) abi::reject(*graph_, operation, "handle", "is empty", "pass one that data() returned");
    return *handle_access::data_of(h);
  }

  template <class T, use_mode How>
  static void note(const typed::typed_use<T, How>& u, task_options&, use* uses, std::size_t& n) noexcept {
    uses[n++] = {u.what, How, u.by};
  }
  static void note(typed::on_rank a, task_options& w, use*, std::size_t&) noexcept {
    w.has_rank = true;
    w.on = a.rank;
  }
  static void note(typed::on_owner a, task_options& w, use*, std::size_t&) noexcept {
    w.has_owner = true;
    w.on_owner_of = a.what;
  }
  static void note(typed::after_tag a, task_options& w, use*, std::size_t&) noexcept {
    w.waits = true;
    w.after = a.tag;
  }
  static void note(typed::task_name a, task_options& w, use*, std::size_t&) noexcept { w.name = a.name; }

  template <bool Const, class T>
  view<T, Const> acquired(const handle<T>& h, use_mode how) {
    kernel_buffer at{};
    void* one = abi::acquire(*graph_, &validated(h, "acquire"), how, at);
    return view<T, Const>(*graph_, one, at);
  }
  request started(const transfer& t, bool sends) {
    return request(*graph_, abi::start(*graph_, t.all, sends));
  }
  template <class... Then>
  void detached(std::span<const transfer> all, bool sends, Then&&... then) {
    static_assert(sizeof...(Then) <= 1, "tutti: detached transfers take one callback, or unlock(tag)");
    static_assert(sizeof(transfer) == sizeof(explicit_transfer));
    follow_up f;
    (follow(f, std::forward<Then>(then)), ...);
    abi::detach(*graph_, reinterpret_cast<const explicit_transfer*>(all.data()), all.size(), sends, f);
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
    std::vector<data_handle*> all;
    for (const auto& h : handles) all.push_back(handle_access::data_of(h));
    run(all.data(), all.size());
  }

  task_graph* graph_;
  int exceptions_at_construction_;
};

}  // namespace tutti::tasks
TUTTI_API_END
