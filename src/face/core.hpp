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

#include "engines/endpoint.hpp"
#include "execute/hop.hpp"
#include "execute/program_run.hpp"
#include "face/rank_state.hpp"
#include "group/name.hpp"
#include "mail/mailbox.hpp"
#include "select/resolve.hpp"
#include "tutti/core/again.hpp"
#include "tutti/core/mail.hpp"
#include "tutti/core/place.hpp"
#include "tutti/core/port.hpp"
#include "tutti/face/stand_in.hpp"

namespace tutti::detail {

class mail_under_way;
class operation_under_way;

/// Who a rank's neighbours are, or how many ranks the first of two groups has.
struct topology {
  bool graph = false;
  std::vector<int> sources, destinations;
  int first_group = 0;
};

class core : public noted_place {
 public:
  core(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where, topology shape = {});
  /// Of members that make it without a message. What only calls need is made with the first of them.
  core(const std::shared_ptr<rank_state>& shared, const group& members, const group_name& name);
  ~core();
  static void* operator new(std::size_t bytes, rank_state& shared);  // where one was that is gone
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, rank_state& shared) noexcept;
  static void operator delete(void* memory) noexcept;
  static void operator delete(core* gone, std::destroying_delete_t) noexcept;
  core(const core&) = delete;

  int rank() const noexcept { return members_.rank(); }
  int size() const noexcept { return members_.size(); }
  std::string_view engine() const noexcept { return shared_->door->engine(); }
  const topology& graph() const noexcept { return topology_; }
  bool inter() const noexcept { return topology_.first_group != 0; }
  int blocks_given(collective what) const noexcept;
  int blocks_taken(collective what) const noexcept;

  endpoint& door() const noexcept { return *shared_->door; }
  /// Of the current call of this rank.
  const std::source_location& place() const noexcept { return shared_->place; }
  const hierarchy& nodes() {
    be_open();
    return *layout_;
  }
  /// What selection may know of a call here.
  situation situation_of(const agreed_signature& s) const;
  native_offer offers_native(const agreed_signature& s) const noexcept {
    return !s.inter && members_.knows() == reach::any_rank ? where_->offers(s) : native_offer::none;
  }
  void run_blocking(const call& c);
  /// Of a call that others than this core carry out.
  void check(const call& c);
  bool run_like_last(std::uint64_t like, const void* input, void* output, std::size_t count,
                     combine_function combine);
  template <number_sides Sides>
  bool run_counted_like_last(counted_call& c, std::uint64_t like);
  void keep_like(std::uint64_t like, const counted_call& c, const call& made);
  pending_call make_pending(const call& c, bool started);
  pending_call make_refused(const call& c, bool started);
  pending_call make_right(const call& c, bool like, bool started);
  // Mail (mail.cpp); as the functions of tutti/core/mail.hpp.
  void send(const letter& l);
  envelope receive(const reception& r);
  pending_call make_send(const letter& l, bool started);
  pending_call make_receive(const reception& r, bool started);
  void check(const reception& r);
  bool look(const char* operation, int source, int tag, bool wait, envelope& found);
  held_letter* take(const char* operation, int source, int tag, bool wait, envelope& found);
  void put_back(fabric::parcel& one) noexcept { mail_->put_back(one); }
  mailbox& own_mail(const char* operation);
  rank_state& of_rank() noexcept { return *shared_; }
  /// What is under way on this rank, but for `except`, goes on; the second in blocking waits.
  void progress_others(const progressing* except) { shared_->progress_others(except, false); }
  void serve_others(const progressing* except) { shared_->progress_others(except, true); }
  void* take_memory(std::size_t bytes);
  void give_memory(void* memory, std::size_t bytes) noexcept;
  /// Throws mismatch_error where other ranks have other trees or overrides: they would choose differently.
  void compare_trees();
  // Of a call that is refused (stand_in.cpp).
  bool is_freed() const noexcept { return released_ || !usable(); }
  bool compares() const noexcept { return shared_->set.check; }
  /// In checked mode, in place of comparing it: tells the others, who throw.
  void tell_refusal(const call& c, const char* why) { compare_with_others(&c, why); }
  core_handle duplicate();
  core_handle with(topology shape, const char* operation);
  // By bins where their number is given: then in the order of ranks.
  static constexpr int any_color = 0x7fffffff;
  core_handle split(int color, int key, const char* operation, int bins = any_color);
  numbered number_distinct(std::string_view text);
  // Groups that are made without a message, and what members of structures do together (groups.cpp).
  core_handle range(int first, int last, int stride);
  core_handle list(std::span<const int> ranks);
  /// These members; all of them say the same `number`, which none of them has used.
  core_handle of_members(const group& members, std::uint64_t number);
  /// The job's ranks of all members. Collective where this rank does not know them.
  std::vector<int> addresses(const char* operation);
  int address(int rank) const noexcept { return members_.address(rank); }  // of one that is known here
  bool goes_in_hops() const noexcept { return tutti::goes_in_hops(members_.knows()); }
  bool knows_all() const noexcept { return members_.knows() == reach::any_rank; }
  void refuse_few(const char* operation) const;
  /// Which of the job's nodes of the finest level this rank is on.
  int own_node() const { return door().layout().node_of(door().rank()); }
  std::uint64_t next_number() const noexcept { return shared_->next_id; }
  int translate(int rank, const core& to, const char* operation) const;
  core_handle between_groups(core& local, int remote_leader);
  void refuse_freed(const char* operation) const;
  /// Throws usage_error where the calling thread does not carry this rank, or the run has ended.
  void refuse_elsewhere(const char* operation) const {
    if (!carried_here()) [[unlikely]]
      refuse_uncarried(operation);
  }
  bool usable() const noexcept { return shared_->carried_here(); }
  bool is_over() const noexcept { return shared_->over(); }
  [[noreturn]] void refuse_rank(const char* operation, const char* parameter, int rank) const;
  /// Both at once.
  void make_hops(const char* operation, const leg& one, const leg& other = {});
  void release() noexcept;
  const char* last_algorithm(collective what) const noexcept {
    return recent_[static_cast<std::size_t>(what)].algorithm;
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
  friend class operation_under_way;
  friend class mail_under_way;
  friend class meeting;
  friend void keep(core&) noexcept;
  friend void drop(core&) noexcept;
  friend struct rank_state;

  // The program of a composed call. What its calls run depends on all that is agreed, and on the algorithm
  // that the call names.
  struct planned {
    std::size_t count;
    element type;
    builtin_op op;
    std::string named;
    std::unique_ptr<bound_program> bound;
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
    std::unique_ptr<program_run> blocking_program;
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
  enum class way : std::uint8_t { plain, native, straight };
  // What calls that differ in their count alone need, for one stretch of counts: the trees come down to a few
  // of these.
  struct spell {
    std::uint64_t upto;         // the greatest count
    prepared* found = nullptr;  // null: no such call was made yet
    combine_function kernel = nullptr;
    way how = way::plain;
  };
  struct spells {
    std::uint64_t head[4] = {};  // of the call, as in `recent`, without its count
    std::vector<spell> all;      // ascending, the last one open

    spell& at(std::uint64_t count) noexcept {
      spell* one = all.data();
      while (count > one->upto) ++one;
      return *one;
    }
  };
  // The numbers of the last call with counts, as its caller had them, for what it gave or took.
  struct last_side {
    static constexpr std::size_t most_near = 64;  // bytes that are compared here
    std::size_t whole = 0;                        // bytes in words of 8; of more than most_near 0
    bool odd = false;                             // 4 bytes more
    std::byte counts[most_near], displs[most_near];
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
  struct again {
    call last;  // with the buffers of the one under way
    ready_native ready;
  };
  // What the last call of a collective was found to need: most programs ask the same again, and then nothing
  // is checked, chosen or looked up twice. `quick` only where the call had no counts, was valid, and is not
  // compared.
  struct alignas(64) recent {
    std::uint64_t like = never_alike;        // of a call that may be told by it (tutti/core/again.hpp)
    std::uint64_t roundabout = never_alike;  // the same, of one with counts that goes by run_roundabout()
    bool one_buffer = false;                 // input and output are the same
    combine_function combine = nullptr;
    void (*go)(const ready_native&, const void*, void*, std::size_t) = nullptr;  // for this count; or null
    std::unique_ptr<again> kept;                                                 // from the first call on
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
    fabric::wait_site site;
    spells* by_count = nullptr;  // null where the trees have not the say

    void forget() noexcept {
      like = roundabout = never_alike;
      quick = steady = false;
      go = nullptr;
      by_count = nullptr;
    }
  };
  static recent* none_recent() noexcept;
  std::span<recent> recents() noexcept {
    return {own_recent_.get(), own_recent_ ? collective_names.size() : 0};
  }
  static bool same_head(const call& c, const recent& r) noexcept;
  static std::uint8_t pointers_of(const void* input, const void* output, combine_function combine) noexcept;
  static bool same_pointers(const void* input, const void* output, combine_function combine,
                            const recent& r) noexcept;
  way way_of(const prepared& p, std::uint64_t bytes, bool other_kernel) const noexcept;
  void remember(const call& c, prepared& p);
  void keep_last(const call& c, recent& r);
  [[gnu::noinline]] static bool is_like(const call& c, recent& r) noexcept;
  prepared& found_for(call& c, bool like);
  void run_again(const call& c, recent& r);
  void go_again(const call& c, recent& r);
  [[gnu::noinline]] void run_another_count(const call& c, recent& r);
  [[gnu::noinline]] void run_otherwise(const call& c);
  void run_plainly(const call& c, recent& r);
  [[gnu::noinline]] bool run_like_other_count(recent& r, const void* input, void* output, std::size_t count);
  [[gnu::noinline]] void run_laid(recent& r, const void* input, void* output);
  template <class Word>
  static Word difference_of_side(const last_side& side, const void* counts, const void* displs,
                                 std::size_t at) noexcept;
  template <number_sides Sides>
  static bool same_numbers(const last_counted& last, const counted_call& c) noexcept;
  [[gnu::noinline]] bool run_roundabout(recent& r, counted_call& c, std::uint64_t like);
  void run_laid(recent& r, const counted_call& c, bool dense_in, bool dense_out);
  void run_ready(recent& r, const void* input, void* output);
  static void choose_way(recent& r, way how) noexcept;
  static bool take_spell(std::uint64_t count, recent& r) noexcept;
  spells* spells_of(const call& c, bool make);  // null where there are none, and none are to be made
  void run_first(const call& c);
  void run_traced(const call& c);
  void note_call(const call& c, const prepared& p, planned* program, bool nonblocking,
                 std::chrono::nanoseconds took);

  bool carried_here() const noexcept {
    return shared_->carrier.load(std::memory_order_relaxed) == fabric::carried;
  }
  [[gnu::noinline, gnu::cold]] void refuse_uncarried(const char* operation) const;
  void join_living() noexcept;
  void leave_living() noexcept;
  void close() noexcept;
  bool let_go_elsewhere(bool under_way, const char* operation) noexcept;
  void be_open() {
    if (!own_recent_) [[unlikely]]
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
  void take_refused(call& c, mode how, stand_in& into);
  void run_refused(const call& c);
  void exchange(collective what, const void* mine, void* all, std::size_t bytes, const char* on_behalf);
  core& whole() noexcept { return within_ ? *within_ : *this; }
  std::uint64_t unused_number();
  core_handle made_locally(const group& members, group_name name);
  void check_graph(const topology& t);
  call with_displacements(const call& c, std::vector<std::size_t>& in, std::vector<std::size_t>& out) const;
  prepared& find(const call& c);
  prepared& select(const call& c, const agreed_signature& s);
  // What a call runs, and calls inside of a composed one (composed.cpp).
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
  static constexpr std::uint64_t least_kernel_bytes = 512;
  static combine_function kernel_for(const call& c) noexcept;
  void carry_out(const call& c, prepared& p);
  void finish(progressing& r);
  mailbox& open_mail(const char* operation);
  void open_first_mail(const char* operation);
  bool check_letter(const letter& l);
  bool check_source(const char* operation, int source, int tag);
  [[noreturn]] void refuse_peer(const char* operation, const char* parameter, int peer) const;
  [[noreturn]] void refuse_tag(const char* operation, int tag) const;
  template <class Over, class Alone>
  void wait_for_mail(const fabric::wait_site& site, bool for_mail, const Over& over, const Alone& alone);
  void finish(want& w);
  void finish(const letter& l, transfer& t);
  bool find_mail(const char* operation, int source, int tag, bool wait, envelope& found);
  template <class What>
  pending_call make_mail(const What& what, bool somebody, bool started);
  void end_mail() noexcept;

  std::shared_ptr<rank_state> shared_;
  group members_;
  std::unique_ptr<context> where_;  // null until it is needed
  group_name name_;
  std::unordered_map<group_name, std::uint32_t, group_name::hash> made_;  // how often each was made of this
  topology topology_;
  core_handle within_;  // between two groups: both as one, for what the library itself exchanges
  std::optional<links> links_;
  std::shared_ptr<const hierarchy> own_layout_;  // where the ranks are not all of the job's
  const hierarchy* layout_ = nullptr;
  std::vector<std::unique_ptr<prepared>> known_;
  std::vector<std::unique_ptr<inner>> inner_;
  recent* recent_ = none_recent();        // by collective
  std::unique_ptr<recent[]> own_recent_;  // from the first call on
  std::vector<std::unique_ptr<spells>> spells_;
  std::vector<std::size_t> in_displs_, out_displs_;
  // What nonblocking calls that are complete have left for the next ones.
  static constexpr std::size_t most_idle = 64;
  struct idle_memory {
    std::size_t bytes;
    void* at;
  };
  std::vector<operation_under_way*> idle_;
  std::vector<mail_under_way*> idle_mail_;
  std::vector<idle_memory> idle_memory_;
  // The number of a call, but never that of hops, in as many bits as every engine tells apart.
  std::uint32_t next_number_of_call() noexcept {
    if ((next_ & hop::number_bits) == hop::number_bits) [[unlikely]]
      ++next_;
    return next_++;
  }
  std::uint32_t next_ = 0;
  bool released_ = false;
  std::atomic<std::size_t> holders_{1};         // see core_handle
  std::unique_ptr<mailbox> mail_;               // from its first message on
  core *before_ = nullptr, *behind_ = nullptr;  // among the rank's living ones
  core* behind_left_ = nullptr;                 // among those left behind
};

}  // namespace tutti::detail
