// SPDX-License-Identifier: Apache-2.0
//
// Groups that are made without a message: ranges and lists of ranks. Their members reckon alike what to call
// them, from the parent, the ranks, and how often the same has been made of the parent.
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "execute/hop.hpp"
#include "face/core.hpp"

namespace tutti::detail {

core_handle core::made_locally(const group& members, group_name name) {
  name = name.with(static_cast<std::uint64_t>(members.address(0)));  // parts of one split have one name
  name = name.with(made_[name]++);
  return core_handle(new core(shared_, members, name));
}

core_handle core::range(int first, int last, int stride) {
  const auto refuse_number = [&](const char* parameter, int value, const char* remedy) {
    refuse("range", parameter, "is " + std::to_string(value), remedy);
  };
  if (released_) refuse("range", "communicator", "was freed", "use it before free(), or a duplicate()");
  if (inter()) refuse("range", "communicator", "has two groups", "take a range of one group");
  if (first < 0 || first >= size()) refuse_number("first", first, "ranks are 0 to size - 1");
  if (last < 0 || last >= size()) refuse_number("last", last, "ranks are 0 to size - 1");
  if (stride == 0 || (last - first) % stride != 0 || (last - first) / stride < 0)
    refuse("range", "stride",
           "is " + std::to_string(stride) + ", which does not lead from " + std::to_string(first) + " to " +
               std::to_string(last),
           "take one that divides last - first");
  const int n = (last - first) / stride + 1, own = (rank() - first) / stride;
  if (own < 0 || own >= n || first + own * stride != rank())
    refuse("range", "first, last, stride", "leave this rank out", "make a group on its members only");
  const auto number = [](int i) { return static_cast<std::uint64_t>(i); };
  return made_locally(members_.part(first, stride, n, own),
                      name_.with(number(first)).with(number(n)).with(number(stride)));
}

core_handle core::list(std::span<const int> ranks) {
  if (released_) refuse("list", "communicator", "was freed", "use it before free(), or a duplicate()");
  if (inter()) refuse("list", "communicator", "has two groups", "list ranks of one group");
  const int p = size(), n = static_cast<int>(ranks.size());
  std::vector<bool> seen(static_cast<std::size_t>(p));
  group_name name = name_.with(~std::uint64_t{0});
  std::vector<int> addresses;
  addresses.reserve(ranks.size());
  int own = -1;
  for (int i = 0; i < n; ++i) {
    const int r = ranks[static_cast<std::size_t>(i)];
    if (r < 0 || r >= p)
      refuse("list", "ranks", "names rank " + std::to_string(r), "ranks are 0 to size - 1");
    if (seen[static_cast<std::size_t>(r)])
      refuse("list", "ranks", "names rank " + std::to_string(r) + " twice", "name each member once");
    seen[static_cast<std::size_t>(r)] = true;
    if (r == rank()) own = i;
    name = name.with(static_cast<std::uint64_t>(r));
    addresses.push_back(members_.address(r));
  }
  if (own < 0) refuse("list", "ranks", "leaves this rank out", "make a group on its members only");
  return made_locally(group::of(std::move(addresses), own), name);
}

// All say what they would be part of and which number they would use; each reckons the rest alone.
core_handle core::split(int color, int key, const char* operation, std::int64_t colors) {
  if (released_) refuse(operation, "communicator", "was freed", "use it before free(), or a duplicate()");
  if (inter()) refuse(operation, "communicator", "has two groups", "split one of one group");
  if (shared_->set.check) compare_with_others(nullptr);
  struct wish {
    std::uint64_t number;
    int color, key;
  };
  const wish mine{next_number(), color, key};
  std::vector<wish> all(static_cast<std::size_t>(size()));
  exchange(collective::allgather, &mine, all.data(), sizeof mine, operation);
  std::vector<int> ranks;
  std::uint64_t number = 0;
  const auto of = [&](int r) -> const wish& { return all[static_cast<std::size_t>(r)]; };
  for (int r = 0; r < size(); ++r) {
    number = std::max(number, of(r).number);
    if (of(r).color >= colors)
      refuse(operation, "bin",
             "is " + std::to_string(of(r).color) + " on rank " + std::to_string(r) + ", of " +
                 std::to_string(colors) + " bins",
             "bins are 0 to bins - 1; below 0: in no group");
    if (of(r).color == color) ranks.push_back(r);
  }
  shared_->next_id = number + 1;
  if (color < 0) return core_handle();
  const auto before = [&](int a, int b) { return of(a).key < of(b).key; };
  if (!std::is_sorted(ranks.begin(), ranks.end(), before))
    std::stable_sort(ranks.begin(), ranks.end(), before);
  const int own = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
  return of_ranks(ranks, own, number);
}

numbered core::number_distinct(std::string_view text) {
  if (released_)
    refuse("number_distinct", "communicator", "was freed", "use it before free(), or a duplicate()");
  if (inter()) refuse("number_distinct", "communicator", "has two groups", "ask one of one group");
  if (shared_->set.check) compare_with_others(nullptr);
  std::vector<std::size_t> lengths(static_cast<std::size_t>(size()));
  const std::size_t mine = text.size();
  exchange(collective::allgather, &mine, lengths.data(), sizeof mine, "number_distinct");
  std::string all(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}), ' ');
  call c;
  c.what = collective::allgatherv;
  c.type = element_of<char>();
  c.input = text.data();
  c.output = all.data();
  c.count = mine;
  c.in_counts = {&mine, 1};
  c.out_counts = {lengths.data(), lengths.size()};
  c.label = "number_distinct";
  carry_out(with_displacements(c, in_displs_, out_displs_), find(c));
  std::vector<std::string_view> texts;
  std::size_t at = 0;
  for (const std::size_t n : lengths) {
    texts.emplace_back(all.data() + at, n);
    at += n;
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const auto own = std::lower_bound(texts.begin(), texts.end(), text);
  return {static_cast<int>(own - texts.begin()), static_cast<int>(texts.size())};
}

core_handle core::of_ranks(std::span<const int> ranks, int own, std::uint64_t number) {
  shared_->next_id = number + 1;
  std::vector<int> addresses;
  addresses.reserve(ranks.size());
  for (const int r : ranks) addresses.push_back(members_.address(r));
  // Groups of one number have no member in common; their first members tell them apart.
  const group_name name = group_name{1, number}.with(static_cast<std::uint64_t>(addresses[0]));
  return core_handle(new core(shared_, group::of(std::move(addresses), own), name));
}

int core::translate(int rank, const core& to, const char* operation) const {
  if (rank == rank::null) return rank::null;
  if (rank < 0 || rank >= size())
    refuse(operation, "rank", "is " + std::to_string(rank), "ranks are 0 to size - 1");
  const int found = to.members_.rank_of(members_.address(rank));
  return found < 0 ? rank::null : found;
}

void core::make_hop(const char* operation, int to, const void* data, std::size_t bytes, int from, void* into,
                    std::size_t received) {
  be_open();
  hop one(*where_, *links_, operation);
  guarded([&] {
    one.begin(to, data, bytes, from, into, received);
    if (shared_->active.empty())
      one.go_on(true);
    else
      finish(one);
  });
}

}  // namespace tutti::detail
