// SPDX-License-Identifier: Apache-2.0
#include "face/core.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>

#include "compute/kernels.hpp"
#include "core/environment.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {
namespace {

bool is_vector_form(collective what) noexcept {
  return what == collective::gatherv || what == collective::scatterv || what == collective::allgatherv ||
         what == collective::alltoallv || what == collective::alltoallw || what == collective::reduce_scatter;
}

bool is_rooted(collective what) noexcept {
  return what == collective::bcast || what == collective::reduce || what == collective::gather ||
         what == collective::gatherv || what == collective::scatter || what == collective::scatterv;
}

bool combines(collective what) noexcept {
  return what == collective::reduce || what == collective::allreduce || what == collective::scan ||
         what == collective::exscan || what == collective::reduce_scatter || what == collective::reduce_scatter_block;
}

}  // namespace

std::array<std::string, collective_names.size()> read_forced_algorithms() {
  std::array<std::string, collective_names.size()> forced;
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    std::string name(collective_names[i]);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto value = setting("TUTTI_" + name + "_ALGORITHM");
    if (!value) continue;
    const std::string_view tail = std::string_view(*value).substr(value->find('/') == value->npos ? 0 : value->find('/') + 1);
    if (tail != "native" && find_algorithm(static_cast<collective>(i), *value) == nullptr)
      throw usage_error("run", -1, "TUTTI_" + name + "_ALGORITHM", "there is no algorithm \"" + *value + "\"",
                        "see tutti list " + std::string(collective_names[i]));
    forced[i] = *value;
  }
  return forced;
}

core::core(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where)
    : shared_(std::move(shared)), where_(std::move(where)), links_(*where_) {}

void core::refuse(const char* operation, const char* parameter, const std::string& problem, const char* remedy) const {
  throw usage_error(operation, rank(), parameter, problem, remedy);
}

// --- checks ---------------------------------------------------------------------------------------------------

void core::validate(const call& c) const {
  const char* name = name_of(c.what).data();
  if (released_) refuse(name, "communicator", "was freed", "use it before free(), or a duplicate()");
  const bool rooted = is_rooted(c.what);
  if (rooted && (c.root < 0 || c.root >= size()))
    refuse(name, "root", "is " + std::to_string(c.root) + ", but ranks are 0 to " + std::to_string(size() - 1),
           "name a rank of this communicator");
  if (combines(c.what) && c.op.combine == nullptr) refuse(name, "op", "is missing", "pass op(...)");
  if (c.type.size == 0) refuse(name, "send_buf", "has elements of no size", "send elements of at least one byte");
  if (is_vector_form(c.what)) {
    validate_vectors(c);
    return;
  }
  if (c.what == collective::barrier || c.count == 0) return;
  std::size_t bytes = 0;
  const bool by_rank = c.what == collective::gather || c.what == collective::scatter || c.what == collective::allgather ||
                       c.what == collective::alltoall || c.what == collective::reduce_scatter_block;
  if (__builtin_mul_overflow(c.count, c.type.size, &bytes) ||
      (by_rank && __builtin_mul_overflow(bytes, static_cast<std::size_t>(size()), &bytes)) ||
      bytes > static_cast<std::size_t>(PTRDIFF_MAX))
    refuse(name, "count", std::to_string(c.count) + " elements are more bytes than an address can count", "send less");
  const bool at_root = rank() == c.root;
  const bool reads = !c.in_place && (c.what == collective::bcast || c.what == collective::scatter ? at_root : true);
  const bool writes = c.what == collective::bcast ? !at_root
                      : c.what == collective::gather || c.what == collective::reduce ? at_root
                      : c.what == collective::exscan                                 ? rank() != 0
                      : c.what == collective::scatter                                ? !c.in_place
                                                                                     : true;
  if (reads && c.input == nullptr)
    refuse(name, "send_buf", "is null, with a count of " + std::to_string(c.count), "pass a buffer of that many elements");
  if (writes && c.output == nullptr)
    refuse(name, "recv_buf", "is null, with a count of " + std::to_string(c.count), "pass a buffer of that many elements");
  if (reads && writes && c.input == c.output && c.what != collective::bcast)
    refuse(name, "recv_buf", "is the send buffer too", "pass send_recv_buf(...) to work in place");
}

void core::validate_vectors(const call& c) const {
  const char* name = name_of(c.what).data();
  const auto p = static_cast<std::size_t>(size());
  const auto side = [&](const counts_view& counts, const counts_view& displs, const char* counts_name,
                        const char* displs_name, const void* data, const char* buffer_name) {
    if (!counts.given()) refuse(name, counts_name, "is missing", "pass one count for each rank");
    if (counts.size() != p)
      refuse(name, counts_name, "has " + std::to_string(counts.size()) + " counts for " + std::to_string(p) + " ranks",
             "pass one count for each rank");
    if (displs.given() && displs.size() != p)
      refuse(name, displs_name, "has " + std::to_string(displs.size()) + " displacements for " + std::to_string(p) + " ranks",
             "pass one displacement for each rank");
    std::size_t end = 0, total = 0;
    for (std::size_t i = 0; i < p; ++i) {
      if (counts.negative(i)) refuse(name, counts_name, "is negative for rank " + std::to_string(i), "counts are 0 or more");
      if (displs.given() && displs.negative(i))
        refuse(name, displs_name, "is negative for rank " + std::to_string(i), "displacements are 0 or more");
      std::size_t reach = 0;
      if (__builtin_add_overflow(total, counts[i], &total) ||
          __builtin_add_overflow(displs.given() ? displs[i] : total - counts[i], counts[i], &reach))
        refuse(name, counts_name, "add up to more than an address can count", "send less");
      end = std::max(end, reach);
    }
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(end, c.type.size, &bytes) || bytes > static_cast<std::size_t>(PTRDIFF_MAX))
      refuse(name, counts_name, "add up to more bytes than an address can count", "send less");
    if (total > 0 && data == nullptr)
      refuse(name, buffer_name, "is null, with counts that add up to " + std::to_string(total), "pass a buffer");
  };
  const bool at_root = rank() == c.root;
  const bool reads_many = (c.what == collective::scatterv && at_root) ||
                          ((c.what == collective::alltoallv || c.what == collective::alltoallw) && !c.in_place);
  const bool writes_many = (c.what == collective::gatherv && at_root) || c.what == collective::allgatherv ||
                           c.what == collective::alltoallv || c.what == collective::alltoallw;
  if (reads_many) side(c.in_counts, c.in_displs, "send_counts", "send_displs", c.input, "send_buf");
  if (writes_many) side(c.out_counts, c.out_displs, "recv_counts", "recv_displs", c.output, "recv_buf");
  const auto own = static_cast<std::size_t>(rank());
  if (c.what == collective::allgatherv || (c.what == collective::gatherv && at_root)) {
    if (!c.in_place && c.count != c.out_counts[own])
      refuse(name, "recv_counts",
             "says " + std::to_string(c.out_counts[own]) + " for this rank, which sends " + std::to_string(c.count),
             "make the own entry the number of elements in send_buf");
  }
  if (c.what == collective::scatterv && at_root && !c.in_place && c.count != c.in_counts[own])
    refuse(name, "recv_count",
           "is " + std::to_string(c.count) + " where send_counts says " + std::to_string(c.in_counts[own]) + " for this rank",
           "make them equal");
  if (c.what == collective::alltoallv && !c.in_place && c.in_counts[own] != c.out_counts[own])
    refuse(name, "recv_counts",
           "says " + std::to_string(c.out_counts[own]) + " from this rank to itself, send_counts says " +
               std::to_string(c.in_counts[own]),
           "make the own entries equal");
}

namespace {

// What a rank says of its call in checked mode.
struct fingerprint {
  std::uint8_t what, kind, op, commutative, in_place;
  std::int32_t root;
  std::uint64_t count, element;
};

std::string describe(const fingerprint& f) {
  const auto what = static_cast<collective>(f.what);
  std::string text(name_of(what));
  text += " of " + std::to_string(f.count) + " elements of " + std::to_string(f.element) + " bytes";
  if (is_rooted(what)) text += ", root " + std::to_string(f.root);
  if (combines(what)) text += ", operator " + std::to_string(f.op) + (f.commutative != 0 ? "" : " (order matters)");
  return text;
}

}  // namespace

// Checked mode: everybody tells everybody what it is about to do, and all see the same difference.
void core::compare_with_others(const call& c) {
  fingerprint mine{};
  mine.what = static_cast<std::uint8_t>(c.what);
  mine.root = is_rooted(c.what) ? c.root : 0;
  mine.in_place = agreed_part(c, size()).in_place ? 1 : 0;
  mine.element = c.what == collective::barrier ? 0 : c.type.size;
  if (combines(c.what)) {
    mine.kind = static_cast<std::uint8_t>(c.type.kind);
    mine.op = static_cast<std::uint8_t>(c.op.which);
    mine.commutative = c.op.commutative ? 1 : 0;
  }
  const bool regular = !is_vector_form(c.what) && c.what != collective::barrier;
  mine.count = regular ? c.count : 0;
  std::vector<fingerprint> all(static_cast<std::size_t>(size()));
  call exchange;
  exchange.what = collective::allgather;
  exchange.type = {sizeof(fingerprint), element_kind::opaque};
  exchange.count = 1;
  exchange.input = &mine;
  exchange.output = all.data();
  carry_out(exchange, find(exchange));
  for (int r = 0; r < size(); ++r) {
    const fingerprint& other = all[static_cast<std::size_t>(r)];
    if (std::memcmp(&other, all.data(), sizeof other) == 0) continue;
    throw mismatch_error(std::string(name_of(c.what)), rank(), "",
                         "rank 0 calls " + describe(all[0]) + ", but rank " + std::to_string(r) + " calls " + describe(other),
                         "make the ranks call the same with the same arguments");
  }
}

// --- choosing -------------------------------------------------------------------------------------------------

choice core::decide(const call& c, const agreed_signature& s) const {
  const bool native = where_->offers(s);
  const std::string& everywhere = shared_->forced[static_cast<std::size_t>(c.what)];
  const char* wanted = c.algorithm != nullptr ? c.algorithm : everywhere.empty() ? nullptr : everywhere.c_str();
  if (wanted != nullptr) {
    const std::string_view text = wanted;
    const std::string_view tail = text.substr(text.find('/') == text.npos ? 0 : text.find('/') + 1);
    if (tail == "native") {
      if (native) return {};
    } else if (const pure_algorithm* a = find_algorithm(c.what, text)) {
      if (permits(*a, s)) return {a};
    } else {
      std::string known;
      for (const pure_algorithm* one : catalogue())
        if (one->what == c.what) known += " " + std::string(one->short_name());
      refuse(name_of(c.what).data(), "algorithm", "\"" + std::string(text) + "\" does not exist",
             ("known are native" + known).c_str());
    }
    if (c.algorithm != nullptr)
      refuse(name_of(c.what).data(), "algorithm", "\"" + std::string(text) + "\" does not serve this call",
             "its restrictions are not met (see tutti list)");
  }
  try {
    return choose(s, {where_->door().node() != nullptr, false}, native);
  } catch (const usage_error&) {
    refuse(name_of(c.what).data(), "op", "no algorithm serves this call on this engine",
           "use a commutative operator, or do not work in place");
  }
}

inline std::uint64_t core::head_of(const call& c) noexcept {
  static_assert(offsetof(call, root) == 4);
  std::uint64_t head;
  std::memcpy(&head, &c, sizeof head);
  return head;
}
inline std::uint16_t core::op_traits_of(const call& c) noexcept {
  static_assert(offsetof(operation, commutative) == offsetof(operation, which) + 1);
  std::uint16_t traits;
  std::memcpy(&traits, &c.op.which, sizeof traits);
  return traits;
}
// Which pointers there are, and whether the buffers are one.
inline std::uint8_t core::pointers_of(const call& c) noexcept {
  return static_cast<std::uint8_t>((c.input != nullptr) | (c.output != nullptr) << 1 | (c.input == c.output) << 2 |
                                   (c.op.combine != nullptr) << 3);
}

// Two buffers are the usual case, and quickly told; then the operator is taken to be there as it was before.
inline bool core::same_pointers(const call& c, const recent& r) noexcept {
  if (r.both && c.input != nullptr && c.output != nullptr) [[likely]]
    return (c.input == c.output) == r.one;
  return r.pointers == pointers_of(c);
}

core::prepared& core::find(const call& c) { return select(c, agreed_part(c, size())); }

void core::remember(const call& c, prepared& p) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  r.head = head_of(c);
  r.count = c.count;
  r.type = c.type;
  r.op_traits = op_traits_of(c);
  r.pointers = pointers_of(c);
  r.both = c.input != nullptr && c.output != nullptr;
  r.one = c.input == c.output;
  r.quick = !is_vector_form(c.what) && !shared_->check && c.algorithm == nullptr;
  r.kernel = kernel_for(c);
  r.how = r.kernel != nullptr ? way::plain : p.chosen.pure == nullptr ? way::native : p.bound->straight ? way::straight : way::plain;
  r.found = &p;
  r.algorithm = p.bound->name;
  r.site = {name_of(c.what).data(), p.bound->name, "the other members", -1, -1, 0};
}

core::prepared& core::select(const call& c, const agreed_signature& s) {
  const choice chosen = decide(c, s);
  for (const auto& k : known_)
    if (k->chosen == chosen && k->what == c.what && k->root == c.root && k->in_place == c.in_place &&
        k->commutative == s.commutative)
      return *k;
  builder b;
  static constexpr std::array<const char*, collective_names.size()> native_names = {
      "barrier/native", "bcast/native", "reduce/native", "allreduce/native", "gather/native", "gatherv/native",
      "scatter/native", "scatterv/native", "allgather/native", "allgatherv/native", "alltoall/native", "alltoallv/native",
      "alltoallw/native", "reduce_scatter/native", "reduce_scatter_block/native", "scan/native", "exscan/native",
      "neighbor_allgatherv/native", "neighbor_alltoallv/native"};
  const char* name = native_names[static_cast<std::size_t>(c.what)];
  if (chosen.pure == nullptr) {
    b.native();
  } else {
    name = chosen.pure->name.data();
    shape sh;
    sh.size = size();
    sh.rank = rank();
    sh.root = c.root;
    sh.in_place = c.in_place;
    sh.commutative = s.commutative;
    sh.radix = chosen.radix;
    chosen.pure->write(sh, b);
  }
  auto made = std::make_unique<prepared>();
  made->chosen = chosen;
  made->what = c.what;
  made->root = c.root;
  made->in_place = c.in_place;
  made->commutative = s.commutative;
  made->bound = std::make_unique<bound_schedule>(name, b.finish(), *where_, links_);
  made->blocking = std::make_unique<schedule_run>();
  known_.push_back(std::move(made));
  return *known_.back();
}

// --- running --------------------------------------------------------------------------------------------------

call core::with_displacements(const call& c, std::vector<std::size_t>& in, std::vector<std::size_t>& out) const {
  call full = c;
  const auto fill = [](const counts_view& counts, counts_view& displs, std::vector<std::size_t>& sums) {
    if (!counts.given() || displs.given()) return;
    sums.resize(counts.size());
    std::size_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sums[i] = sum;
      sum += counts[i];
    }
    displs = counts_view(sums.data(), sums.size());
  };
  fill(full.in_counts, full.in_displs, in);
  fill(full.out_counts, full.out_displs, out);
  return full;
}

void core::run_blocking(const call& c) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  if (r.quick && r.head == head_of(c) && r.count == c.count && r.type == c.type && r.op_traits == op_traits_of(c) &&
      c.algorithm == nullptr && same_pointers(c, r)) [[likely]] {
    run_again(c, r);
  } else {
    run_first(c);
  }
}

inline void core::run_again(const call& c, recent& r) {
  if (r.how == way::plain || !shared_->active.empty()) {
    run_plainly(c, r);
  } else if (r.how == way::native) {
    r.site.run = next_++;
    where_->native(c, r.site);
  } else {
    r.found->blocking->run_straight(*r.found->bound, c, next_++);
  }
}

void core::run_plainly(const call& c, recent& r) {
  if (r.kernel == nullptr) {
    carry_out(c, *r.found);
  } else {
    call faster = c;
    faster.op.combine = r.kernel;
    carry_out(faster, *r.found);
  }
}

void core::run_first(const call& c) {
  validate(c);
  if (shared_->check) compare_with_others(c);
  prepared& p = find(c);
  remember(c, p);
  if (is_vector_form(c.what)) {
    carry_out(with_displacements(c, in_displs_, out_displs_), p);
  } else {
    run_again(c, recent_[static_cast<std::size_t>(c.what)]);
  }
}

// The library's own loops are faster than what a template makes of a long vector.
combine_function core::kernel_for(const call& c) noexcept {
  if (c.op.which == builtin_op::user || c.count * c.type.size < 512) return nullptr;
  return compute::kernel(c.op.which, c.type.kind);
}

void core::release() noexcept {
  released_ = true;
  for (recent& r : recent_) r.quick = false;
}

void core::carry_out(const call& c, prepared& p) {
  schedule_run& r = *p.blocking;
  r.begin(*p.bound, c, next_++);
  if (shared_->active.empty()) [[likely]] {
    r.go_on(true);
  } else {
    finish(r);
  }
}

// With nonblocking operations under way a wait serves them all.
void core::finish(schedule_run& r) {
  std::uint64_t moves = r.moves();
  while (!r.go_on(false)) {
    progress_others(&r);
    if (r.moves() != moves) {
      moves = r.moves();
      where_->door().progressed();
    }
    where_->door().pause(r.site("messages"));
  }
  where_->door().progressed();
}

void core::progress_others(const schedule_run* except) {
  auto& active = shared_->active;
  for (std::size_t i = 0; i < active.size();) {
    schedule_run* one = active[i];
    if (one == except) {
      ++i;
      continue;
    }
    const std::uint64_t before = one->moves();
    const bool over = one->go_on(false);
    if (over || one->moves() != before) where_->door().progressed();
    if (over) {
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

/// A nonblocking or persistent operation: its own run, and copies of what the caller may let go of.
class operation_under_way final : public pending {
 public:
  operation_under_way(core& where, const call& c) : where_(where), call_(c) {
    copy_counts(call_.in_counts, in_counts_);
    copy_counts(call_.in_displs, in_displs_);
    copy_counts(call_.out_counts, out_counts_);
    copy_counts(call_.out_displs, out_displs_);
    if (is_vector_form(c.what)) call_ = where.with_displacements(call_, in_displs_, out_displs_);
    if (const auto kernel = core::kernel_for(call_)) call_.op.combine = kernel;
    prepared_ = &where.find(call_);
    where.recent_[static_cast<std::size_t>(c.what)].algorithm = prepared_->bound->name;
  }
  // While an exception passes by, peers may never come: then what is under way gets a second to end, not for ever.
  ~operation_under_way() override {
    try {
      if (std::uncaught_exceptions() == 0) {
        wait();
      } else {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        while (!test() && std::chrono::steady_clock::now() < end) {
        }
      }
    } catch (...) {
      // The job is failing; whoever waits explicitly is told.
    }
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), &run_), active.end());
  }

  void start() override {
    if (!run_.over()) where_.refuse(name_of(call_.what).data(), "", "is under way already", "wait() before the next start()");
    run_.begin(*prepared_->bound, call_, where_.next_++);
    if (!run_.go_on(false)) where_.shared_->active.push_back(&run_);
  }
  bool test() override {
    if (run_.over()) return true;
    where_.progress_others(nullptr);
    if (!run_.over()) where_.where_->door().pause(run_.site("messages"));
    return run_.over();
  }
  void wait() override {
    if (run_.over()) return;
    where_.finish(run_);
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), &run_), active.end());
  }

 private:
  static void copy_counts(counts_view& view, std::vector<std::size_t>& kept) {
    if (!view.given()) return;
    kept.resize(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) kept[i] = view[i];
    view = counts_view(kept.data(), kept.size());
  }

  core& where_;
  call call_;
  core::prepared* prepared_;
  std::vector<std::size_t> in_counts_, in_displs_, out_counts_, out_displs_;
  schedule_run run_;
};

std::unique_ptr<pending> core::make_pending(const call& c, bool started) {
  validate(c);
  if (started && shared_->check) compare_with_others(c);
  auto made = std::make_unique<operation_under_way>(*this, c);
  if (started) made->start();
  return made;
}

std::shared_ptr<core> core::duplicate() {
  if (released_) refuse("duplicate", "communicator", "was freed", "duplicate it before free()");
  // A number that none of the members has used: the largest of what they would use next.
  std::uint64_t next = shared_->next_id;
  call agree;
  agree.what = collective::allreduce;
  agree.type = element_of<std::uint64_t>();
  agree.count = 1;
  agree.in_place = true;
  agree.output = &next;
  agree.op = {[](const void* a, const void* b, void* c, std::size_t n, void*) {
                for (std::size_t i = 0; i < n; ++i)
                  static_cast<std::uint64_t*>(c)[i] =
                      std::max(static_cast<const std::uint64_t*>(a)[i], static_cast<const std::uint64_t*>(b)[i]);
              },
              nullptr, builtin_op::max, true};
  carry_out(agree, find(agree));
  shared_->next_id = next + 1;
  return std::make_shared<core>(shared_, where_->door().open(where_->members(), next, where_.get()));
}

// --- the door (tutti/core/port.hpp) ---------------------------------------------------------------------------

void run_call(core& c, const call& what) { c.run_blocking(what); }
std::unique_ptr<pending> start_call(core& c, const call& what) { return c.make_pending(what, true); }
std::unique_ptr<pending> prepare_call(core& c, const call& what) { return c.make_pending(what, false); }
std::shared_ptr<core> duplicate(core& c) { return c.duplicate(); }
void release(core& c) noexcept { c.release(); }
int rank_of(const core& c) noexcept { return c.rank(); }
int size_of(const core& c) noexcept { return c.size(); }
void refuse(const core& c, const char* operation, const char* parameter, const std::string& problem, const char* remedy) {
  c.refuse(operation, parameter, problem, remedy);
}
const char* last_algorithm(const core& c, collective what) noexcept { return c.last_algorithm(what); }

}  // namespace tutti::detail
