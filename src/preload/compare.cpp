// SPDX-License-Identifier: Apache-2.0
#include "preload/compare.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "preload/process.hpp"
#include "preload/serve.hpp"
#include "preload/under_way.hpp"
#include "tutti/core/error.hpp"

namespace tutti::preload {
namespace {

constexpr std::uint64_t none = ~std::uint64_t{0};  // an argument that this rank's call does not have

std::string name_of_call(collective what, bool nonblocking) {
  std::string name(name_of(what));
  name[0] = static_cast<char>(nonblocking ? name[0] : std::toupper(static_cast<unsigned char>(name[0])));
  return (nonblocking ? "MPI_I" : "MPI_") + name;
}

const char* name_of_operator(MPI_Op op) {
  const std::pair<MPI_Op, const char*> all[] = {
      {MPI_SUM, "MPI_SUM"},        {MPI_PROD, "MPI_PROD"},     {MPI_MIN, "MPI_MIN"},
      {MPI_MAX, "MPI_MAX"},        {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
      {MPI_BXOR, "MPI_BXOR"},      {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
      {MPI_LXOR, "MPI_LXOR"},      {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
      {MPI_OP_NULL, "MPI_OP_NULL"}};
  for (const auto& [handle, name] : all)
    if (handle == op) return name;
  return "an operator of its own";
}

void put(std::span<char> into, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), into.size() - 1), into.begin());
}

// FNV-1a.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 1099511628211u;
}

bool is_pairwise(collective what) noexcept {
  return what == collective::gatherv || what == collective::scatterv || what == collective::alltoallv ||
         what == collective::alltoallw;
}

// A sum or product gives every rank the same in place or not; MPI wants all of them to be.
bool agrees_in_place(collective what) noexcept {
  return !is_rooted(what) && what != collective::scan && what != collective::exscan &&
         what != collective::barrier;
}

}  // namespace

// What one rank tells another.
struct comparisons::told {
  char call[40];  // "MPI_Iallreduce"
  char op[24];
  std::int32_t root;  // -1: it has none
  std::uint32_t in_place, kind;
  std::uint64_t gives, takes;  // bytes of a block
  std::uint64_t counts;        // a hash of what all ranks have alike
  std::uint64_t to_you;        // bytes that the other one is sent

  std::string text() const {
    static constexpr const char* kinds[] = {"",        "int8",        "int16",  "int32",  "int64",
                                            "uint8",   "uint16",      "uint32", "uint64", "float32",
                                            "float64", "long double", "bool"};
    std::string t(call);
    if (gives != none && takes != none && gives != takes)
      t += " of " + std::to_string(gives) + " bytes given and " + std::to_string(takes) + " taken";
    else if (gives != none || takes != none)
      t += " of " + std::to_string(gives != none ? gives : takes) + " bytes";
    if (kind != 0 && kind < std::size(kinds)) t += std::string(" (") + kinds[kind] + ")";
    if (op[0] != '\0') t += std::string(", ") + op;
    if (root >= 0) t += ", root " + std::to_string(root);
    if (in_place != 0) t += ", in place";
    return t;
  }
};

struct comparisons::one {
  explicit one(std::shared_ptr<member> m, std::string_view name)
      : of(std::move(m)),
        size(static_cast<std::size_t>(of->size)),
        mine(size),
        all(size),
        expects(size, none) {
    std::memset(static_cast<void*>(mine.data()), 0, size * sizeof(told));
    std::memset(static_cast<void*>(all.data()), 0, size * sizeof(told));
    told& first = mine[0];
    put(first.call, name);
    first.root = -1;
    first.gives = first.takes = first.to_you = none;
    to.assign(size, none);
  }
  // All ranks are told the same but for what each is sent.
  void spread() {
    for (std::size_t r = size; r-- > 0;) {
      mine[r] = mine[0];
      mine[r].to_you = to[r];
    }
  }

  std::shared_ptr<member> of;
  std::size_t size;
  std::vector<told> mine, all;
  std::vector<std::uint64_t> to, expects;  // bytes sent to and expected from each
  bool pairwise = false;
  const char* object = nullptr;  // "a window"; null: a communicator
  detail::pending_call run;

  static bool same(const told& a, const told& b) noexcept {
    return std::strcmp(a.call, b.call) == 0 && std::strcmp(a.op, b.op) == 0 && a.root == b.root &&
           a.in_place == b.in_place && a.kind == b.kind && a.counts == b.counts;
  }
  // The rank whose call is unlike rank 0's; -1: none.
  int other() const noexcept {
    std::uint64_t block = none;
    for (std::size_t r = 0; r < size; ++r) {
      if (!same(all[r], all[0])) return static_cast<int>(r);
      for (const std::uint64_t n : {all[r].gives, all[r].takes}) {
        if (n == none) continue;
        if (block == none) block = n;
        if (n != block) return static_cast<int>(r);
      }
    }
    return -1;
  }
  std::string where() const {
    if (object != nullptr) return std::string(object) + " of " + std::to_string(size) + " ranks";
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (PMPI_Comm_get_name(of->comm, name, &length) == MPI_SUCCESS && name[0] != '\0') return name;
    return "a communicator of " + std::to_string(size) + " ranks, of which rank 0 is rank " +
           std::to_string(of->ranks.first_address()) + " of MPI_COMM_WORLD,";
  }
  void judge() const {
    const int r = other();
    if (r < 0) return;
    const told &a = all[0], &b = all[static_cast<std::size_t>(r)];
    std::string first = a.text(), second = b.text();
    if (first == second && a.counts != b.counts) second += " with other counts";
    if (first == second) second += " of another kind of elements";
    throw mismatch_error(
        mine[0].call, of->rank, "",
        "on " + where() + " rank 0 calls " + first + ", but rank " + std::to_string(r) + " calls " + second,
        "make the ranks call the same with the same arguments");
  }
};

comparisons::comparisons(process& p) : p_(p), lock_(p.threads) {}
comparisons::~comparisons() = default;

std::shared_ptr<member> comparisons::served(MPI_Comm comm) {
  std::shared_ptr<member> m = comm == MPI_COMM_NULL ? nullptr : p_.all.of(comm, *p_.door);
  return m && m->served ? m : nullptr;
}

// --- what is told
// --------------------------------------------------------------------------------------------------------

std::uint64_t comparisons::bytes(int count, MPI_Datatype type) const {
  if (count < 0) return none;
  if (count == 0) return 0;
  const datatype& t = p_.types.of(type);
  return t.usable ? static_cast<std::uint64_t>(count) * t.size : none;
}

// What is not significant on this rank is not looked at: it may be anything.
void comparisons::describe(one& o, const arguments& a) const {
  told& t = o.mine[0];
  const bool root = is_rooted(a.what) && o.of->rank == a.root, in_place = a.in_place();
  if (is_rooted(a.what)) t.root = a.root;
  if (agrees_in_place(a.what)) t.in_place = in_place ? 1 : 0;
  if (combines(a.what)) {
    put(t.op, name_of_operator(a.op));
    t.kind = static_cast<std::uint32_t>(p_.types.of(a.out_type).kind);
  }
  switch (a.what) {
    case collective::barrier:
      return;
    case collective::bcast:
      (root ? t.gives : t.takes) = bytes(a.out_count, a.out_type);
      return;
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter_block:
    case collective::scan:
    case collective::exscan:
      t.gives = bytes(a.out_count, a.out_type);
      return;
    case collective::gather:
      if (!in_place) t.gives = bytes(a.in_count, a.in_type);
      if (root) t.takes = bytes(a.out_count, a.out_type);
      return;
    case collective::scatter:
      if (root) t.gives = bytes(a.in_count, a.in_type);
      if (a.out != MPI_IN_PLACE) t.takes = bytes(a.out_count, a.out_type);
      return;
    case collective::allgather:
    case collective::alltoall:
      if (!in_place) t.gives = bytes(a.in_count, a.in_type);
      t.takes = bytes(a.out_count, a.out_type);
      return;
    default:
      return describe_vectors(o, a);
  }
}

void comparisons::describe_vectors(one& o, const arguments& a) const {
  const bool root = is_rooted(a.what) && o.of->rank == a.root, in_place = a.in_place();
  const auto me = static_cast<std::size_t>(o.of->rank);
  const auto given = [&](std::size_t r) {
    return a.in_counts == nullptr ? none
                                  : bytes(a.in_counts[r], a.in_types != nullptr ? a.in_types[r] : a.in_type);
  };
  const auto taken = [&](std::size_t r) {
    return a.out_counts == nullptr
               ? none
               : bytes(a.out_counts[r], a.out_types != nullptr ? a.out_types[r] : a.out_type);
  };
  o.pairwise = is_pairwise(a.what);
  const auto to_root = static_cast<std::size_t>(std::clamp(a.root, 0, o.of->size - 1));
  switch (a.what) {
    case collective::gatherv:
      if (!in_place) o.to[to_root] = bytes(a.in_count, a.in_type);
      for (std::size_t r = 0; root && r < o.size; ++r)
        if (!(in_place && r == me)) o.expects[r] = taken(r);
      return;
    case collective::scatterv:
      for (std::size_t r = 0; root && r < o.size; ++r)
        if (!(a.out == MPI_IN_PLACE && r == me)) o.to[r] = given(r);
      if (a.out != MPI_IN_PLACE) o.expects[to_root] = bytes(a.out_count, a.out_type);
      return;
    case collective::alltoallv:
    case collective::alltoallw:
      for (std::size_t r = 0; r < o.size; ++r) {
        o.to[r] = in_place ? taken(r) : given(r);
        o.expects[r] = taken(r);
      }
      return;
    default:  // allgatherv, reduce_scatter: all have the same counts
      for (std::size_t r = 0; r < o.size; ++r) o.mine[0].counts = mixed(o.mine[0].counts + 1, taken(r));
      if (a.what != collective::allgatherv || in_place) return;
      o.to[me] = bytes(a.in_count, a.in_type);
      o.expects[me] = taken(me);
  }
}

// --- exchanges
// -----------------------------------------------------------------------------------------------------------

// Every rank sends to all others at once, so that this rank need not come back for them to go on.
void comparisons::start(one& o) {
  const auto mine = p_.turn.take();
  p_.all.let_go();
  if (!o.of->compared)
    o.of->compared =
        detail::core_handle(new (*p_.shared) detail::core(p_.shared, o.of->ranks, o.of->name.with(1)));
  o.spread();
  call c;
  c.what = collective::alltoall;
  c.type = {sizeof(told), element_kind::opaque, {}};
  c.count = 1;
  c.input = o.mine.data();
  c.output = o.all.data();
  c.algorithm = "scattered:window=1024";
  c.label = o.mine[0].call;
  const own_errors errors(p_);
  o.run = detail::start_call(*o.of->compared, c);
}

void comparisons::wait(one& o) {
  for (patience tries;; tries.pause()) {
    const auto mine = p_.turn.take();
    const own_errors errors(p_);
    if (!o.run->test()) continue;
    o.run.reset();
    return;
  }
}

// What is sent and what is expected, pair by pair, is seen by one of the two. It tells the others: all return
// an error, none goes on alone.
void comparisons::agree_on_pairs(one& o) {
  struct difference {
    std::int32_t found, from, to;
    std::uint32_t no_hole;
    std::uint64_t sends, expects;
  };
  difference mine{};
  for (std::size_t r = 0; r < o.size && mine.found == 0; ++r)
    if (o.all[r].to_you != none && o.expects[r] != none && o.all[r].to_you != o.expects[r])
      mine = {1, static_cast<int>(r), o.of->rank, 0, o.all[r].to_you, o.expects[r]};
  std::vector<difference> all(o.size);
  if (o.pairwise) {
    call c;
    c.what = collective::allgather;
    c.type = {sizeof mine, element_kind::opaque, {}};
    c.count = 1;
    c.input = &mine;
    c.output = all.data();
    c.algorithm = "linear";
    c.label = o.mine[0].call;
    {
      const auto held = p_.turn.take();
      o.run = detail::start_call(*o.of->compared, c);
    }
    wait(o);
  } else {
    all[0] = mine;
  }
  for (const difference& d : all)
    if (d.found != 0)
      throw mismatch_error(o.mine[0].call, o.of->rank, "",
                           "on " + o.where() + " rank " + std::to_string(d.from) + " sends " +
                               std::to_string(d.sends) + " bytes to rank " + std::to_string(d.to) +
                               ", which expects " + std::to_string(d.expects),
                           "make the counts and datatypes on both sides the same");
}

std::optional<int> comparisons::compare(std::unique_ptr<one> what, bool nonblocking) {
  one& o = *what;
  try {
    start(o);
    if (nonblocking) {
      const auto mine = p_.turn.take();
      all_.push_back(std::move(what));
      p_.begun->count();
      return {};
    }
    wait(o);
    o.judge();
    agree_on_pairs(o);
    return {};
  } catch (...) {
    return failed(o.of->comm);
  }
}

std::optional<int> comparisons::compare(const arguments& a, bool nonblocking) {
  std::shared_ptr<member> m = served(a.comm);
  if (!m) return {};
  auto o = std::make_unique<one>(std::move(m), name_of_call(a.what, nonblocking));
  describe(*o, a);
  return compare(std::move(o), nonblocking);
}

std::optional<int> comparisons::compare(MPI_Comm comm, const char* call, bool nonblocking) {
  std::shared_ptr<member> m = served(comm);
  if (!m) return {};
  return compare(std::make_unique<one>(std::move(m), call), nonblocking);
}

// It is given members of its own, whose messages meet none of the communicator's.
void comparisons::keep(std::uint64_t number, MPI_Comm comm, const char* what) {
  const std::shared_ptr<member> parent = served(comm);
  const auto name = p_.named.next_of(comm);
  if (!parent || !name) return;
  auto made = std::make_shared<member>();
  made->comm = MPI_COMM_WORLD;  // whose error handler is told
  made->rank = parent->rank;
  made->size = parent->size;
  made->ranks = parent->ranks;
  made->name = name->with(static_cast<std::uint64_t>(parent->ranks.first_address()));
  const auto held = lock_.take();
  objects_[number] = {std::move(made), what};
}

std::optional<int> comparisons::compare_on(std::uint64_t number, const char* call) {
  object found;
  {
    const auto held = lock_.take();
    const auto at = objects_.find(number);
    if (at == objects_.end()) return {};
    found = at->second;
  }
  auto o = std::make_unique<one>(std::move(found.of), call);
  o->object = found.what;
  return compare(std::move(o), false);
}

void comparisons::drop(std::uint64_t number) {
  std::shared_ptr<member> last;
  {
    const auto held = lock_.take();
    const auto at = objects_.find(number);
    if (at == objects_.end()) return;
    last = std::move(at->second.of);
    objects_.erase(at);
  }
  const auto mine = p_.turn.take();
  last.reset();  // a group of tutti's goes with it
}

// The error of a nonblocking call that is found later: its function has returned.
int comparisons::failed_begun(const one& o) noexcept {
  const MPI_Comm comm = p_.all.lives(*o.of) ? o.of->comm : MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  try {
    throw;
  } catch (const std::exception& e) {
    if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
      if (handler != MPI_ERRORS_ARE_FATAL) std::fprintf(stderr, "%s\n", e.what());
      PMPI_Errhandler_free(&handler);
    }
  }
  return failed(comm);
}

void comparisons::go_on() {
  for (std::size_t i = 0; i < all_.size();) {
    one& o = *all_[i];
    std::unique_ptr<one> over;
    try {
      {
        const own_errors errors(p_);
        if (!o.run->test()) {
          ++i;
          continue;
        }
      }
      over = std::move(all_[i]);
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      p_.begun->count();
      over->run.reset();
      over->judge();
      over->pairwise = false;  // the others may not be here
      agree_on_pairs(*over);
    } catch (...) {
      if (!over) {
        over = std::move(all_[i]);
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
        p_.begun->count();
      }
      failed_begun(*over);
    }
  }
}

// When all ranks are here, all that they told before is on its way. What does not come in a second was never
// called.
void comparisons::finish() {
  if (compare(MPI_COMM_WORLD, "MPI_Finalize")) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (patience tries; !all_.empty() && std::chrono::steady_clock::now() < end; tries.pause())
    p_.begun->go_on();
  if (all_.empty()) return;
  one& o = *all_.front();
  const std::string call = o.mine[0].call, where = o.where();
  for (auto& left : all_) static_cast<void>(left.release());  // receives that nothing comes for
  all_.clear();
  p_.begun->count();
  try {
    throw mismatch_error(call, o.of->rank, "",
                         "on " + where + " not all ranks have called it when all call MPI_Finalize",
                         "make the ranks call the same with the same arguments");
  } catch (...) {
    failed(MPI_COMM_WORLD);
  }
}

}  // namespace tutti::preload
