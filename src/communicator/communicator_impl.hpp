// SPDX-License-Identifier: Apache-2.0
//
// The library half of a communicator: checks a call, chooses its algorithm, finds or makes the bound
// schedule, runs it. Longer than a file should be: one class holds all that a call needs.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/group/group_name.hpp"
#include "communicator/p2p/message_queue.hpp"
#include "communicator/rank_state.hpp"
#include "runtime/executor/composite_run.hpp"
#include "runtime/executor/hop.hpp"
#include "selection/resolve.hpp"
#include "transport/endpoint.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/detail/repeat_call.hpp"
#include "tutti/detail/substitute_buffers.hpp"

namespace tutti::detail {

class p2p_operation;
class collective_operation;

/// Who a rank's neighbours are, or how many ranks the first of two groups has.
struct topology {
  bool graph = false;
  std::vector<int> sources, destinations;
  int first_group = 0;
};

class communicator_impl : public call_site_slot {
 public:
  communicator_impl(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where, topology shape = {});
  /// Of members that make it without a message. What only calls need is made with the first of them.
  communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members, const group_name& name);
  ~communicator_impl();
  static void* operator new(std::size_t bytes, rank_state& shared);  // where one was that is gone
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, rank_state& shared) noexcept;
  static void operator delete(void* memory) noexcept;
  static void operator delete(communicator_impl* gone, std::destroying_delete_t) noexcept;
  communicator_impl(const communicator_impl&) = delete;

  int rank() const noexcept { return members_.rank(); }
  int size() const noexcept { return members_.size(); }
  std::string_view engine() const noexcept { return shared_->ep->engine(); }
  const topology& graph() const noexcept { return topology_; }
  bool inter() const noexcept { return topology_.first_group != 0; }
  int send_block_count(collective what) const noexcept;
  int recv_block_count(collective what) const noexcept;

  endpoint& ep() const noexcept { return *shared_->ep; }
  /// Of the current call of this rank.
  const std::source_location& place() const noexcept { return shared_->place; }
  const hierarchy& nodes() {
    be_open();
    return *layout_;
  }
  /// What selection may know of a call here.
  selection_context selection_context_of(const agreed_signature& s) const;
  native_offer offers_native(const agreed_signature& s) const noexcept {
    return !s.inter && members_.knows() == reach::any_rank ? where_->offers(s) : native_offer::none;
  }
  void run_blocking(const call& c);
  /// Of a call that others than this core carry out.
  void check(const call& c);
  bool run_cached(std::uint64_t key, const void* input, void* output, std::size_t count,
                  combine_function combine);
  template <array_sides Sides>
  bool run_cached_with_counts(counted_call& c, std::uint64_t key);
  void cache_call(std::uint64_t key, const counted_call& c, const call& made);
  pending_call make_pending(const call& c, bool started);
  pending_call make_refused(const call& c, bool started);
  pending_call make_right(const call& c, bool is_cached, bool started);
  // Mail (p2p.cpp); as the functions of tutti/detail/p2p_abi.hpp.
  void send(const send_args& l);
  envelope receive(const recv_args& r);
  pending_call make_send(const send_args& l, bool started);
  pending_call make_receive(const recv_args& r, bool started);
  void check(const recv_args& r);
  bool look(const char* operation, int source, int tag, bool wait, envelope& found);
  matched_message* take(const char* operation, int source, int tag, bool wait, envelope& found);
  void put_back(shm::unexpected_message& one) noexcept { p2p_->put_back(one); }
  message_queue& p2p_messages(const char* operation);
  rank_state& of_rank() noexcept { return *shared_; }
  /// What is under way on this rank, but for `except`, goes on; the second in blocking waits.
  void progress_others(const progressable* except) { shared_->progress_others(except, false); }
  void serve_others(const progressable* except) { shared_->progress_others(except, true); }
  void* acquire_memory(std::size_t bytes);
  void release_memory(void* memory, std::size_t bytes) noexcept;
  /// Throws mismatch_error where other ranks have other trees or overrides: they would choose differently.
  void compare_trees();
  // Of a call that is refused (substitute_buffers.cpp).
  bool is_freed() const noexcept { return released_ || !usable(); }
  bool compares() const noexcept { return shared_->set.check; }
  /// In checked mode, in place of comparing it: tells the others, who throw.
  void report_refusal(const call& c, const char* why) { compare_with_others(&c, why); }
  communicator_handle duplicate();
  communicator_handle with(topology shape, const char* operation);
  // By bins where their number is given: then in the order of ranks.
  static constexpr int any_color = 0x7fffffff;
  communicator_handle split(int color, int key, const char* operation, int bins = any_color);
  distinct_number number_distinct(std::string_view text);
  // Groups that are made without a message, and what members of structures do together (groups.cpp).
  communicator_handle range(int first, int last, int stride);
  communicator_handle list(std::span<const int> ranks);
  /// These members; all of them say the same `number`, which none of them has used.
  communicator_handle of_members(const group& members, std::uint64_t number);
  /// The job's ranks of all members. Collective where this rank does not know them.
  std::vector<int> addresses(const char* operation);
  int address(int rank) const noexcept { return members_.address(rank); }  // of one that is known here
  bool goes_in_hops() const noexcept { return tutti::goes_in_hops(members_.knows()); }
  bool knows_all() const noexcept { return members_.knows() == reach::any_rank; }
  void refuse_few(const char* operation) const;
  /// Which of the job's nodes of the finest level this rank is on.
  int own_node() const { return ep().layout().node_of(ep().rank()); }
  std::uint64_t next_number() const noexcept { return shared_->next_id; }
  int translate(int rank, const communicator_impl& to, const char* operation) const;
  communicator_handle between_groups(communicator_impl& local, int remote_leader);
  void refuse_freed(const char* operation) const;
  /// Throws usage_error where the calling thread does not carry this rank, or the run has ended.
  void check_thread(const char* operation) const {
    if (!runs_here()) [[unlikely]]
      refuse_thread(operation);
  }
  bool usable() const noexcept { return shared_->runs_here(); }
  bool is_over() const noexcept { return shared_->over(); }
  [[noreturn]] void refuse_rank(const char* operation, const char* parameter, int rank) const;
  /// Both at once.
  void make_hops(const char* operation, const leg& one, const leg& other = {});
  void release() noexcept;
  const char* last_algorithm(collective what) const noexcept {
    return cache_[static_cast<std::size_t>(what)].algorithm;
  }
  [[noreturn]] void refuse(const char* operation, const char* parameter, std::string_view problem,
                           const char* remedy) const;
  /// Whatever leaves by an exception ends the job before its buffers go: others may be reading them.
  template <class Step>
  decltype(auto) guarded(Step&& step) {
    try {
      return step();
    } catch (...) {
      give_up();
      throw;
    }
  }

 private:
  friend class collective_operation;
  friend class p2p_operation;
  friend class repeated_allreduce;
  friend void keep(communicator_impl&) noexcept;
  friend void drop(communicator_impl&) noexcept;
  friend struct rank_state;

  // The program of a composed call. What its calls run depends on all that is agreed, and on the algorithm
  // that the call names.
  struct planned {
    std::size_t count;
    element type;
    builtin_op op;
    std::string named;
    std::unique_ptr<bound_composite_plan> bound;
    std::vector<inner_call> inside;  // for the trace

    // Of vector forms it never does: their counts may be others.
    bool serves(const call& c) const noexcept {
      return c.count == count && c.type == type && c.op.which == op && !is_vector_form(c.what) &&
             (c.algorithm == nullptr ? named.empty() : named == c.algorithm);
    }
  };
  // A schedule in use, or a composition, with the run that blocking calls use again and again.
  struct prepared {
    composed_choice composed;
    choice chosen;
    collective what;
    int root;
    bool in_place, commutative;
    const char* name;  // "allreduce/ring"
    std::unique_ptr<bound_schedule> bound;
    std::unique_ptr<schedule_run> blocking;
    std::shared_ptr<planned> program;  // the last blocking one; where it is composed
    std::unique_ptr<composite_run> blocking_composite;
  };
  // The schedule of a call that a composed call makes, on some of the ranks.
  struct inner {
    choice chosen;
    collective what;
    int root;
    bool in_place, commutative;
    std::vector<int> ranks;
    std::unique_ptr<bound_schedule> bound;
  };
  // The short ways: straight to the engine's own collective, or straight through a schedule of simple
  // exchanges.
  enum class way : std::uint8_t { plain, native, simple };
  // What calls that differ in their count alone need, for one stretch of counts: the trees come down to a few
  // of these.
  struct count_interval {
    std::uint64_t upper_bound;  // the greatest count
    prepared* found = nullptr;  // null: no such call was made yet
    combine_function kernel = nullptr;
    way how = way::plain;
  };
  struct count_intervals {
    std::uint64_t head[4] = {};       // of the call, as in `cached_call`, without its count
    std::vector<count_interval> all;  // ascending, the last one open

    count_interval& at(std::uint64_t count) noexcept {
      count_interval* one = all.data();
      while (count > one->upper_bound) ++one;
      return *one;
    }
  };
  // The numbers of the last call with counts, as its caller had them, for what it gave or took.
  struct last_side {
    static constexpr std::size_t max_near = 64;  // bytes that are compared here
    std::size_t whole = 0;                       // bytes in words of 8; of more than max_near 0
    bool odd = false;                            // 4 bytes more
    std::byte counts[max_near], displs[max_near];
    std::vector<std::byte> far_counts, far_displs;  // of more bytes than that
    std::vector<std::byte> dense;                   // displacements, where they were left out
    bool take(const counts_view& counts, const counts_view& displs, bool left_out, bool wide);
    bool same_far(const void* counts, const void* displs) const noexcept;
  };
  struct last_counted {
    std::size_t input_length = 0, output_length = 0;
    const void *input = nullptr, *output = nullptr;
    ready_native ready;
    last_side in, out;
    std::vector<std::size_t> dense_in, dense_out;
  };
  // What a call like the last one is carried out with, where it is told before it is laid down.
  struct repeat_call {
    call last;  // with the buffers of the one under way
    ready_native ready;
  };
  // What the last call of a collective was found to need: most programs ask the same again, and then nothing
  // is checked, chosen or looked up twice. `quick` only where the call had no counts, was valid, and is not
  // compared.
  struct alignas(64) cached_call {
    std::uint64_t key = no_call_key;  // of a call that may be told by it (tutti/detail/repeat_call.hpp)
    std::uint64_t indirect_key =
        no_call_key;          // the same, of one with counts that goes by run_cached_indirect()
    bool one_buffer = false;  // input and output are the same
    combine_function combine = nullptr;
    void (*go)(const ready_native&, const void*, void*, std::size_t) = nullptr;  // for this count; or null
    std::unique_ptr<repeat_call> kept;                                           // from the first call on
    std::unique_ptr<last_counted> counted;                                       // where it has counts
    std::uint64_t head[4] = {};  // of the call: what, in place, root, element, kind of operator
    std::uint64_t count = 0;
    std::uint8_t pointers = 0;           // which of them are null or the same
    bool two = false;                    // there are two buffers
    bool quick = false, steady = false;  // the second: quick but for the trace
    way how = way::plain;
    combine_function kernel = nullptr;  // to be used instead of the call's own
    prepared* found = nullptr;
    const char* algorithm = "";
    shm::wait_site site;
    count_intervals* by_count = nullptr;  // null where the trees have not the say

    void forget() noexcept {
      key = indirect_key = no_call_key;
      quick = steady = false;
      go = nullptr;
      by_count = nullptr;
    }
  };
  static cached_call* empty_cache() noexcept;
  std::span<cached_call> cached_calls() noexcept {
    return {cache_storage_.get(), cache_storage_ ? collective_names.size() : 0};
  }
  static bool same_head(const call& c, const cached_call& r) noexcept;
  static std::uint8_t pointers_of(const void* input, const void* output, combine_function combine) noexcept;
  static bool same_pointers(const void* input, const void* output, combine_function combine,
                            const cached_call& r) noexcept;
  way way_of(const prepared& p, std::uint64_t bytes, bool other_kernel) const noexcept;
  void remember(const call& c, prepared& p);
  void cache_last(const call& c, cached_call& r);
  [[gnu::noinline]] static bool is_in_cache(const call& c, cached_call& r) noexcept;
  prepared& found_for(call& c, bool is_cached);
  void run_cached_call(const call& c, cached_call& r);
  void dispatch_cached_call(const call& c, cached_call& r);
  [[gnu::noinline]] void run_other_count(const call& c, cached_call& r);
  [[gnu::noinline]] void run_uncached(const call& c);
  void run_with_progress(const call& c, cached_call& r);
  [[gnu::noinline]] bool run_cached_other_count(cached_call& r, const void* input, void* output,
                                                std::size_t count);
  [[gnu::noinline]] void run_built(cached_call& r, const void* input, void* output);
  template <class Word>
  static Word difference_of_side(const last_side& side, const void* counts, const void* displs,
                                 std::size_t at) noexcept;
  template <array_sides Sides>
  static bool same_numbers(const last_counted& last, const counted_call& c) noexcept;
  [[gnu::noinline]] bool run_cached_indirect(cached_call& r, counted_call& c, std::uint64_t key);
  void run_built(cached_call& r, const counted_call& c, bool dense_in, bool dense_out);
  void run_ready(cached_call& r, const void* input, void* output);
  static void choose_way(cached_call& r, way how) noexcept;
  static bool take_count_interval(std::uint64_t count, cached_call& r) noexcept;
  count_intervals* count_intervals_of(const call& c,
                                      bool make);  // null where there are none, and none are to be made
  void run_first(const call& c);
  void run_traced(const call& c);
  void note_call(const call& c, const prepared& p, planned* program, bool nonblocking,
                 std::chrono::nanoseconds took);

  bool runs_here() const noexcept {
    return shared_->running_thread.load(std::memory_order_relaxed) == shm::current_rank;
  }
  [[gnu::noinline, gnu::cold]] void refuse_thread(const char* operation) const;
  void link_alive() noexcept;
  void unlink_alive() noexcept;
  void close() noexcept;
  bool release_on_other_thread(bool under_way, const char* operation) noexcept;
  void be_open() {
    if (!cache_storage_) [[unlikely]]
      open();
  }
  void open();
  void validate(const call& c) const;
  void validate_vectors(const call& c) const;
  void validate_own_edges(const call& c) const;
  bool beside_root(const call& c) const noexcept;
  void refuse_overlap(const call& c, const counts_view& counts, const counts_view& displs) const;
  // null: what makes a communicator, called `maker`. `refusal`: this rank refuses its arguments, and returns
  // when the others know.
  void compare_with_others(const call* c, const char* refusal = nullptr, const char* maker = "");
  void throw_refusal(const char* name, int who, const char* refusal);
  void compare_counts(const call& c, const char* name);
  void take_refused(call& c, mode how, substitute_buffers& into);
  void run_refused(const call& c);
  void exchange(collective what, const void* mine, void* all, std::size_t bytes, const char* on_behalf);
  communicator_impl& union_of_groups() noexcept { return within_ ? *within_ : *this; }
  std::uint64_t unused_number();
  communicator_handle made_locally(const group& members, group_name name);
  void check_graph(const topology& t);
  call with_displacements(const call& c, std::vector<std::size_t>& in, std::vector<std::size_t>& out) const;
  prepared& find(const call& c);
  prepared& select(const call& c, const agreed_signature& s);
  // What a call runs, and calls inside of a composed one (composed_calls.cpp).
  resolution decide(const call& c, const agreed_signature& s) const;
  void fall_back(collective what, const resolution::unfit& u) const;
  void note(collective what, const resolution& r, bool inter) const;
  std::shared_ptr<planned> plan(const call& c, const prepared& p, bool blocking);
  inner& inner_schedule(const call& c, const subcall& sub, const std::vector<int>& ranks, bool blocking);
  static schedule write(const choice& chosen, shape s);
  static const char* name_of_choice(collective what, const choice& c) noexcept;
  template <class Run>
  void run_to_end(Run& r, const prepared& p);
  void give_up() noexcept;  // apart, so that what is guarded saves few registers
  static constexpr std::uint64_t min_kernel_bytes = 512;
  static combine_function kernel_for(const call& c) noexcept;
  void carry_out(const call& c, prepared& p);
  void finish(progressable& r);
  message_queue& open_p2p(const char* operation);
  void open_first_p2p(const char* operation);
  bool check_send(const send_args& l);
  bool check_source(const char* operation, int source, int tag);
  [[noreturn]] void refuse_peer(const char* operation, const char* parameter, int peer) const;
  [[noreturn]] void refuse_tag(const char* operation, int tag) const;
  template <class Over, class Alone>
  void wait_for_p2p(const shm::wait_site& site, bool for_p2p, const Over& over, const Alone& alone);
  void finish(posted_recv& w);
  void finish(const send_args& l, transfer& t);
  bool find_message(const char* operation, int source, int tag, bool wait, envelope& found);
  template <class What>
  pending_call make_p2p(const What& what, bool somebody, bool started);
  void end_p2p() noexcept;

  std::shared_ptr<rank_state> shared_;
  group members_;
  std::unique_ptr<context> where_;  // null until it is needed
  group_name name_;
  std::unordered_map<group_name, std::uint32_t, group_name::hash> made_;  // how often each was made of this
  topology topology_;
  communicator_handle within_;  // between two groups: both as one, for what the library itself exchanges
  std::optional<links> links_;
  std::shared_ptr<const hierarchy> own_layout_;  // where the ranks are not all of the job's
  const hierarchy* layout_ = nullptr;
  std::vector<std::unique_ptr<prepared>> known_;
  std::vector<std::unique_ptr<inner>> inner_;
  cached_call* cache_ = empty_cache();            // by collective
  std::unique_ptr<cached_call[]> cache_storage_;  // from the first call on
  std::vector<std::unique_ptr<count_intervals>> count_intervals_;
  std::vector<std::size_t> in_displs_, out_displs_;
  // What nonblocking calls that are complete have left for the next ones.
  static constexpr std::size_t max_idle = 64;
  struct idle_memory {
    std::size_t bytes;
    void* at;
  };
  std::vector<collective_operation*> idle_;
  std::vector<p2p_operation*> idle_p2p_;
  std::vector<idle_memory> idle_memory_;
  // The number of a call, but never that of hops, in as many bits as every engine tells apart.
  std::uint32_t next_number_of_call() noexcept {
    if ((next_ & hop::number_bits) == hop::number_bits) [[unlikely]]
      ++next_;
    return next_++;
  }
  std::uint32_t next_ = 0;
  bool released_ = false;
  std::atomic<std::size_t> holders_{1};                      // see communicator_handle
  std::unique_ptr<message_queue> p2p_;                       // from its first message on
  communicator_impl *before_ = nullptr, *behind_ = nullptr;  // among the rank's living ones
  communicator_impl* next_left_ = nullptr;                   // among those left behind
};

}  // namespace tutti::detail
