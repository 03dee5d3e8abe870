// SPDX-License-Identifier: Apache-2.0
#include "communicator/checked_mode.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void checked_mode::compare(const call& c) {
  const char* const operation = called(c);
  compare(operation, digest_of(c, where_.size(), where_.inter(), false, where_.current()), nullptr);
  if (is_vector_form(c.what) && !where_.inter()) compare_counts(operation, c);
}

void checked_mode::compare(const char* operation) {
  compare(operation, digest_of(operation, where_.current()), nullptr);
}

void checked_mode::report_rejection(const call& c, const char* why) {
  compare(called(c), digest_of(c, where_.size(), where_.inter(), true, where_.current()), why);
}

void checked_mode::compare(const char* operation, const call_digest& mine, const char* rejection) {
  std::vector<call_digest> all(static_cast<std::size_t>(where_.size()));
  control_.exchange(collective::allgather, &mine, all.data(), sizeof mine, operation);
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].rejected != 0) return exchange_rejections(operation, static_cast<int>(r), rejection);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (same(all[0], all[r])) continue;
    throw mismatch_error(
        where_.current().name_or(operation), where_.rank(), "",
        "rank 0 calls " + describe(all[0]) + ", but rank " + std::to_string(r) + " calls " + describe(all[r]),
        "make the same call with the same arguments on all ranks", where_.place());
  }
}

// All ranks call this if one of them rejects its arguments. Each rejecting rank has its own error.
void checked_mode::exchange_rejections(const char* operation, int who, const char* rejection) {
  using text = std::array<char, 1024>;
  text mine{};
  if (rejection != nullptr) {
    const std::string_view why = without_prefix(rejection);
    std::copy_n(why.begin(), std::min(why.size(), mine.size() - 1), mine.begin());
  }
  std::vector<text> all(static_cast<std::size_t>(where_.size()));
  control_.exchange(collective::allgather, mine.data(), all.data(), sizeof mine, operation);
  if (rejection != nullptr) return;
  throw peer_error(
      where_.current().name_or(operation), where_.rank(), "",
      "rank " + std::to_string(who) + " rejected its arguments: " + all[static_cast<std::size_t>(who)].data(),
      "correct them on that rank", where_.place());
}

namespace {

struct difference {
  std::int32_t found, from, to;
  std::uint64_t sends, expects;
};

}  // namespace

// A rank that finds a difference sends it to all others, so that all throw and none continues
// alone.
void checked_mode::compare_counts(const char* operation, const call& c) {
  const auto p = static_cast<std::size_t>(where_.size()), me = static_cast<std::size_t>(where_.rank());
  const bool at_root = where_.rank() == c.root;
  std::vector<std::uint64_t> sent(p), announced(p);
  difference mine;
  std::memset(static_cast<void*>(&mine), 0, sizeof mine);
  const auto compare = [&](std::size_t from, std::uint64_t sends, std::size_t to, std::uint64_t expects) {
    if (sends == expects || mine.found != 0) return;
    mine = {1, static_cast<std::int32_t>(from), static_cast<std::int32_t>(to), sends, expects};
  };
  const std::uint64_t local_count = c.count;
  switch (c.what) {
    case collective::gatherv:
      control_.exchange(collective::allgather, &local_count, sent.data(), sizeof local_count, operation);
      if (!at_root) break;
      for (std::size_t r = 0; r < p; ++r)
        if (!(c.in_place && r == me)) compare(r, sent[r], me, c.out_counts[r]);
      break;
    case collective::allgatherv:
      if (!c.in_place) compare(me, local_count, me, c.out_counts[me]);
      break;
    case collective::scatterv:  // each rank sends what it expects
      control_.exchange(collective::allgather, &local_count, sent.data(), sizeof local_count, operation);
      if (!at_root) break;
      for (std::size_t r = 0; r < p; ++r)
        if (!(c.in_place && r == me)) compare(me, c.in_counts[r], r, sent[r]);
      break;
    case collective::alltoallv:
      for (std::size_t r = 0; r < p; ++r) announced[r] = c.in_place ? c.out_counts[r] : c.in_counts[r];
      control_.exchange(collective::alltoall, announced.data(), sent.data(), sizeof local_count, operation);
      for (std::size_t r = 0; r < p; ++r) compare(r, sent[r], me, c.out_counts[r]);
      break;
    default:
      return;
  }
  std::vector<difference> all(p);
  control_.exchange(collective::allgather, &mine, all.data(), sizeof mine, operation);
  for (const difference& d : all)
    if (d.found != 0)
      throw mismatch_error(where_.current().name_or(operation), where_.rank(), "recv_counts",
                           "rank " + std::to_string(d.from) + " sends " + std::to_string(d.sends) +
                               " elements to rank " + std::to_string(d.to) + ", which expects " +
                               std::to_string(d.expects),
                           "make the counts on both sides the same", where_.place());
}

void checked_mode::compare_edges(const topology& graph) {
  const auto p = static_cast<std::size_t>(where_.size());
  std::vector<std::uint64_t> to(p), from(p), listed(p);
  for (const int r : graph.destinations) ++to[static_cast<std::size_t>(r)];
  for (const int r : graph.sources) ++from[static_cast<std::size_t>(r)];
  control_.exchange(collective::alltoall, to.data(), listed.data(), sizeof to[0], "graph");
  for (std::size_t r = 0; r < p; ++r)
    if (listed[r] != from[r])
      throw mismatch_error(where_.current().name_or("graph"), where_.rank(), "sources",
                           "rank " + std::to_string(r) + " lists this rank " + std::to_string(listed[r]) +
                               " times as a destination, but this rank lists it " + std::to_string(from[r]) +
                               " times as a source",
                           "pass every edge on both of its ranks", where_.place());
}

}  // namespace tutti::detail
