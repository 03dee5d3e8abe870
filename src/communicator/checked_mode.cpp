// SPDX-License-Identifier: Apache-2.0
//
// Checked mode (TUTTI_CHECK=1): everybody tells everybody what it is about to do, and all see the same
// difference. Counts that only pairs of ranks share are compared by whoever receives.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include "base/environment.hpp"
#include "base/report_text.hpp"
#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::uint8_t makes_communicator = 255;  // in place of a collective

struct fingerprint {
  std::uint8_t what, kind, op, commutative, in_place, refused;
  std::uint16_t on_behalf;
  std::int32_t root;
  std::uint64_t count, element, algorithm, counts;
  std::uint64_t code, module;  // of an operator of its own
  // The beginning of the algorithm's and the composition's names, where the call gives some; of what makes a
  // communicator, its own name.
  char named[40];
  char place[56];  // of the call in the program; is not compared
};

void copy_text(std::string_view text, std::span<char> to) noexcept {
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

constexpr const char* operator_names[] = {"a user-defined operator",
                                          "sum",
                                          "product",
                                          "min",
                                          "max",
                                          "bit_and",
                                          "bit_or",
                                          "bit_xor",
                                          "logical_and",
                                          "logical_or",
                                          "logical_xor"};
constexpr const char* kind_names[] = {"opaque", "i8",  "i16", "i32", "i64", "u8",  "u16",
                                      "u32",    "u64", "f32", "f64", "f80", "bool"};

std::string describe(const fingerprint& f) {
  const std::string place = f.place[0] != '\0' ? std::string(" at ") + f.place : "";
  if (f.what == makes_communicator) return f.named + place;
  const auto what = static_cast<collective>(f.what);
  std::string text(name_of(f.on_behalf != 0 ? static_cast<collective>(f.on_behalf - 1) : what));
  if (what == collective::barrier) return text + place;
  if (f.on_behalf != 0) {
    if (is_rooted(what)) text += ", root " + std::to_string(f.root);
    return text + " (it exchanges its counts first)" + place;
  }
  if (!is_vector_form(what)) text += " of " + std::to_string(f.count) + " elements";
  text += " of " + std::to_string(f.element) + " bytes";
  if (is_rooted(what)) text += ", root " + std::to_string(f.root);
  if (combines(what)) {
    text += std::string(" (") + kind_names[f.kind] + "), " + operator_names[f.op];
    if (f.commutative == 0) text += ", not commutative";
    if (f.code != 0) text += ", code " + std::to_string(f.code);
  }
  if (f.in_place != 0) text += ", in place";
  if (f.algorithm != 0) text += std::string(", named \"") + f.named + "\"";
  if (f.counts != 0) text += ", counts " + std::to_string(f.counts % 100000) + " (a hash)";
  return text + place;
}

// FNV-1a: equal for equal values, and different in all likelihood otherwise.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 1099511628211u;
}

std::uint64_t hash_of(const char* text) noexcept {
  if (text == nullptr) return 0;
  std::uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; ++text) hash = mix(hash, static_cast<unsigned char>(*text));
  return hash;
}

std::uint64_t hash_of(const counts_view& counts) noexcept {
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < counts.size(); ++i) hash = mix(hash, counts[i]);
  return hash;
}

// Where the code of an operator stands in its program or library: the same on all ranks of one program, and
// another for each type of callable. Ranks of different programs cannot compare it.
void identify(const operation& op, fingerprint& f) {
  Dl_info found{};
  if (op.which != builtin_op::user || dladdr(reinterpret_cast<void*>(op.combine), &found) == 0) return;
  f.code = reinterpret_cast<std::uintptr_t>(op.combine) - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  f.module = hash_of(found.dli_fname);
}

bool same(fingerprint a, const fingerprint& b) noexcept {
  if (a.module != b.module && a.module != 0 && b.module != 0) a.module = b.module, a.code = b.code;
  std::memcpy(a.place, b.place, sizeof a.place);
  return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof a) == 0;
}

}  // namespace

// An exchange of the checks' own, under the name of the user's call in reports.
void communicator_impl::exchange(collective what, const void* mine, void* all, std::size_t bytes,
                                 const char* on_behalf) {
  if (within_) return within_->exchange(what, mine, all, bytes, on_behalf);
  call c;
  c.what = what;
  c.type = {bytes, element_kind::opaque, {}};
  c.count = 1;
  c.input = mine;
  c.output = all;
  c.label = on_behalf;
  carry_out(c, find(c));
}

// All ranks come here where one of them refuses its arguments. Those that do have errors of their own.
void communicator_impl::throw_refusal(const char* name, int who, const char* refusal) {
  std::array<char, 1024> own{};
  if (refusal != nullptr) copy_text(without_prefix(refusal), own);
  std::vector<std::array<char, 1024>> all(static_cast<std::size_t>(size()));
  exchange(collective::allgather, own.data(), all.data(), sizeof own, name);
  if (refusal != nullptr) return;
  throw peer_error(
      name, rank(), "",
      "rank " + std::to_string(who) + " rejected its arguments: " + all[static_cast<std::size_t>(who)].data(),
      "correct them on that rank", place());
}

void communicator_impl::compare_with_others(const call* c, const char* refusal, const char* maker) {
  const char* name = c == nullptr ? maker : called(*c);
  fingerprint mine;
  std::memset(static_cast<void*>(&mine), 0, sizeof mine);  // holes too: fingerprints are compared as bytes
  mine.what = makes_communicator;
  copy_text(place_text(place()), mine.place);
  if (c == nullptr) {
    copy_text(maker, mine.named);
  } else {
    mine.what = static_cast<std::uint8_t>(c->what);
    mine.on_behalf = c->on_behalf;
    mine.root = is_rooted(c->what) ? c->root : 0;
    mine.in_place = agreed_part(*c, size()).in_place ? 1 : 0;
    mine.element = c->what == collective::barrier ? 0 : c->type.size;
    mine.algorithm = hash_of(c->algorithm) + 31 * hash_of(c->composition);
    std::string named = c->algorithm != nullptr ? c->algorithm : "";
    if (c->composition != nullptr) named += (named.empty() ? "" : ", ") + std::string(c->composition);
    copy_text(named, mine.named);
    if (combines(c->what)) {
      mine.kind = static_cast<std::uint8_t>(c->type.kind);
      mine.op = static_cast<std::uint8_t>(c->op.which);
      mine.commutative = c->op.commutative ? 1 : 0;
      if (refusal == nullptr) identify(c->op, mine);
    }
    if (!is_vector_form(c->what) && c->what != collective::barrier && !inter()) mine.count = c->count;
    if (refusal == nullptr && !inter() &&
        (c->what == collective::allgatherv || c->what == collective::reduce_scatter))
      mine.counts = hash_of(c->out_counts);
  }
  std::vector<fingerprint> all(static_cast<std::size_t>(size()));
  mine.refused = refusal != nullptr ? 1 : 0;
  exchange(collective::allgather, &mine, all.data(), sizeof mine, name);
  for (int r = 0; r < size(); ++r)
    if (all[static_cast<std::size_t>(r)].refused != 0) return throw_refusal(name, r, refusal);
  for (int r = 0; r < size(); ++r) {
    const fingerprint& other = all[static_cast<std::size_t>(r)];
    if (same(other, all[0])) continue;
    throw mismatch_error(
        name, rank(), "",
        "rank 0 calls " + describe(all[0]) + ", but rank " + std::to_string(r) + " calls " + describe(other),
        "make the same call with the same arguments on all ranks", place());
  }
  if (c != nullptr && is_vector_form(c->what) && !inter()) compare_counts(*c, name);
}

// What of the environment decides, as far as it is set: "TUTTI_ALLREDUCE_ALGORITHM=ring".
static std::array<char, 1024> variables_that_decide(const selection& by) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : ", ") + name + "=" + value;
  };
  for (const char* name : {"TUTTI_TREES", "TUTTI_COLL_SELECTION_JSON_FILE",
                           "TUTTI_COLL_COMPOSITION_JSON_FILE", "TUTTI_COLL_FALLBACK", "TUTTI_CHECK"})
    add(name, setting(name).value_or(""));
  for (std::size_t i = 0; i < by.forced.size(); ++i) {
    const auto what = static_cast<collective>(i);
    add(override_variable(what, override_kind::algorithm), by.forced[i].algorithm);
    add(override_variable(what, override_kind::inter_algorithm), by.forced[i].inter_algorithm);
    add(override_variable(what, override_kind::composition), by.forced[i].composition);
  }
  if (const trees_file own = trees_of_the_user(); own.is_default)
    text += (text.empty() ? "the trees of " : ", the trees of ") + own.path;
  if (text.empty()) text = "no variable set";
  std::array<char, 1024> all{};
  std::copy_n(text.begin(), std::min(text.size(), all.size() - 1), all.begin());
  return all;
}

void communicator_impl::compare_trees() {
  const selection& by = *shared_->by;
  std::uint64_t mine = by.trees ? hash_of(*by.trees) : 0;
  for (const forced_choice& f : by.forced)
    for (const std::string* text : {&f.algorithm, &f.inter_algorithm, &f.composition})
      mine = mix(mine, hash_of(text->c_str()));
  mine = mix(mine, static_cast<std::uint64_t>(shared_->set.when_unfit) * 2 + (shared_->set.check ? 1 : 0));
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  call c;
  c.what = collective::allgather;
  c.type = element_of<std::uint64_t>();
  c.count = 1;
  c.input = &mine;
  c.output = all.data();
  c.algorithm = "ring";  // what the ranks would choose is the question
  carry_out(c, find(c));
  std::string others;
  std::size_t first = 0;
  for (std::size_t r = all.size(); r-- > 1;)
    if (all[r] != all[0]) {
      first = r;
      others = std::to_string(r) + (others.empty() ? "" : ", ") + others;
    }
  if (others.empty()) return;
  // All have seen it, and tell one another what they have.
  const auto own = variables_that_decide(by);
  std::vector<std::array<char, 1024>> of_all(all.size());
  c.type = {sizeof own, element_kind::opaque, {}};
  c.input = own.data();
  c.output = of_all.data();
  carry_out(c, find(c));
  throw mismatch_error("run", rank(), "TUTTI_*",
                       "rank " + others + " would choose differently from rank 0: rank " +
                           std::to_string(first) + " has " + of_all[first].data() + "; rank 0 has " +
                           of_all[0].data(),
                       "set the same variables and the same files on all ranks");
}

namespace {

struct difference {
  std::int32_t found, from, to;
  std::uint64_t sends, expects;
};

}  // namespace

// What is sent and what is expected, pair by pair. Who sees a difference tells the others: all throw, none
// goes on alone.
void communicator_impl::compare_counts(const call& c, const char* name) {
  const auto p = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
  std::vector<std::uint64_t> sent(p), announced(p);
  difference mine;
  std::memset(static_cast<void*>(&mine), 0, sizeof mine);
  const auto compare = [&](std::size_t from, std::uint64_t sends, std::size_t to, std::uint64_t expects) {
    if (sends == expects || mine.found != 0) return;
    mine = {1, static_cast<std::int32_t>(from), static_cast<std::int32_t>(to), sends, expects};
  };
  const std::uint64_t own = c.count;
  switch (c.what) {
    case collective::gatherv:
      exchange(collective::allgather, &own, sent.data(), sizeof own, name);
      if (rank() != c.root) break;
      for (std::size_t r = 0; r < p; ++r)
        if (!(c.in_place && r == me)) compare(r, sent[r], me, c.out_counts[r]);
      break;
    case collective::allgatherv:
      if (!c.in_place) compare(me, own, me, c.out_counts[me]);
      break;
    case collective::scatterv:
      exchange(collective::allgather, &own, sent.data(), sizeof own, name);  // what each expects
      if (rank() != c.root) break;
      for (std::size_t r = 0; r < p; ++r)
        if (!(c.in_place && r == me)) compare(me, c.in_counts[r], r, sent[r]);
      break;
    case collective::alltoallv:
      for (std::size_t r = 0; r < p; ++r) announced[r] = c.in_place ? c.out_counts[r] : c.in_counts[r];
      exchange(collective::alltoall, announced.data(), sent.data(), sizeof own, name);
      for (std::size_t r = 0; r < p; ++r) compare(r, sent[r], me, c.out_counts[r]);
      break;
    default:
      return;
  }
  std::vector<difference> all(p);
  exchange(collective::allgather, &mine, all.data(), sizeof mine, name);
  for (const difference& d : all)
    if (d.found != 0)
      throw mismatch_error(name, rank(), "recv_counts",
                           "rank " + std::to_string(d.from) + " sends " + std::to_string(d.sends) +
                               " elements to rank " + std::to_string(d.to) + ", which expects " +
                               std::to_string(d.expects),
                           "make the counts on both sides the same", place());
}

}  // namespace tutti::detail
