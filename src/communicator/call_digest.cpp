// SPDX-License-Identifier: Apache-2.0
#include "communicator/call_digest.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <dlfcn.h>

#include "base/agreed_signature.hpp"
#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::uint8_t makes_communicator = 255;  // in place of a collective

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

void copy_text(std::string_view text, std::span<char> to) noexcept {
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

std::uint64_t hash_of_counts(const counts_view& counts) noexcept {
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < counts.size(); ++i) hash = mix(hash, counts[i]);
  return hash;
}

// The address of an operator's code within its program or library. It is the same on all ranks of
// one program, and differs between types of callables. Ranks of different programs cannot compare
// it.
void identify(const operation& op, call_digest& d) {
  Dl_info found{};
  if (op.which != builtin_op::user || dladdr(reinterpret_cast<void*>(op.combine), &found) == 0) return;
  d.code = reinterpret_cast<std::uintptr_t>(op.combine) - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  d.module = hash_of(found.dli_fname);
}

call_digest empty_digest(const current_call& now) {
  call_digest d;
  std::memset(static_cast<void*>(&d), 0, sizeof d);  // padding too: digests are compared as bytes
  copy_text(location_text(now.location()), d.place);
  copy_text(now.name_or(""), d.enclosing);
  return d;
}

}  // namespace

std::uint64_t hash_of(const char* text) noexcept {
  if (text == nullptr) return 0;
  std::uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; ++text) hash = mix(hash, static_cast<unsigned char>(*text));
  return hash;
}

call_digest digest_of(const char* operation, const current_call& now) {
  call_digest d = empty_digest(now);
  d.what = makes_communicator;
  copy_text(operation, d.named);
  return d;
}

call_digest digest_of(const call& c, int ranks, bool inter, bool rejected, const current_call& now) {
  call_digest d = empty_digest(now);
  d.what = static_cast<std::uint8_t>(c.what);
  d.rejected = rejected ? 1 : 0;
  d.on_behalf = c.on_behalf;
  d.root = is_rooted(c.what) ? c.root : 0;
  d.in_place = agreed_part(c, ranks).in_place ? 1 : 0;
  d.element = c.what == collective::barrier ? 0 : c.type.size;
  d.algorithm = hash_of(c.algorithm) + 31 * hash_of(c.composition);
  std::string named = c.algorithm != nullptr ? c.algorithm : "";
  if (c.composition != nullptr) named += (named.empty() ? "" : ", ") + std::string(c.composition);
  copy_text(named, d.named);
  if (combines(c.what)) {
    d.kind = static_cast<std::uint8_t>(c.type.kind);
    d.op = static_cast<std::uint8_t>(c.op.which);
    d.commutative = c.op.commutative ? 1 : 0;
    if (!rejected) identify(c.op, d);
  }
  if (inter) return d;
  if (!is_vector_form(c.what) && c.what != collective::barrier) d.count = c.count;
  if (!rejected && (c.what == collective::allgatherv || c.what == collective::reduce_scatter))
    d.counts = hash_of_counts(c.out_counts);
  return d;
}

bool same(const call_digest& left, const call_digest& b) noexcept {
  call_digest a;
  std::memcpy(static_cast<void*>(&a), &left, sizeof a);
  if (a.module != b.module && a.module != 0 && b.module != 0) a.module = b.module, a.code = b.code;
  std::memcpy(a.place, b.place, sizeof a.place);
  std::memcpy(a.enclosing, b.enclosing, sizeof a.enclosing);
  return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof a) == 0;
}

namespace {

std::string describe_arguments(const call_digest& d) {
  if (d.what == makes_communicator) return d.named;
  const auto what = static_cast<collective>(d.what);
  std::string text(name_of(d.on_behalf != 0 ? static_cast<collective>(d.on_behalf - 1) : what));
  if (what == collective::barrier) return text;
  if (d.on_behalf != 0) {
    if (is_rooted(what)) text += ", root " + std::to_string(d.root);
    return text + " (it exchanges its counts first)";
  }
  if (!is_vector_form(what)) text += " of " + std::to_string(d.count) + " elements";
  text += " of " + std::to_string(d.element) + " bytes";
  if (is_rooted(what)) text += ", root " + std::to_string(d.root);
  if (combines(what)) {
    text += std::string(" (") + kind_names[d.kind] + "), " + operator_names[d.op];
    if (d.commutative == 0) text += ", not commutative";
    if (d.code != 0) text += ", code " + std::to_string(d.code);
  }
  if (d.in_place != 0) text += ", in place";
  if (d.algorithm != 0) text += std::string(", named \"") + d.named + "\"";
  if (d.counts != 0) text += ", counts " + std::to_string(d.counts % 100000) + " (a hash)";
  return text;
}

}  // namespace

std::string describe(const call_digest& d) {
  std::string text = describe_arguments(d);
  if (d.enclosing[0] != '\0') text = d.enclosing + (" (its " + text + ")");
  if (d.place[0] != '\0') text += std::string(" at ") + d.place;
  return text;
}

}  // namespace tutti::detail
