// SPDX-License-Identifier: Apache-2.0
//
// Groups that are made without a message: ranges and lists of ranks. Their members reckon alike what to call
// them, from the parent, the ranks, and how often the same has been made of the parent.
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "communicator/communicator_impl.hpp"
#include "runtime/executor/hop.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void communicator_impl::refuse_freed(const char* operation) const {
  check_thread(operation);
  if (released_) refuse(operation, "communicator", "was freed", "use it before free(), or a duplicate()");
}

// What needs the addresses of all members, of whom this rank knows a few.
void communicator_impl::refuse_few(const char* operation) const {
  if (!knows_all())
    refuse(operation, "communicator", "knows only " + std::string(description_of(members_.knows())),
           "use its split(0), which knows all ranks");
}

communicator_handle communicator_impl::made_locally(const group& members, group_name name) {
  const std::uint64_t first = static_cast<std::uint32_t>(members.first_address());
  name = name.with(first << 32 | made_[name]++);  // parts of one split have one name
  return communicator_handle(new (*shared_) communicator_impl(shared_, members, name));
}

communicator_handle communicator_impl::range(int first, int last, int stride) {
  const auto refuse_number = [&](const char* parameter, int value, const char* remedy) {
    refuse("range", parameter, "is " + std::to_string(value), remedy);
  };
  refuse_freed("range");
  refuse_few("range");
  if (inter()) refuse("range", "communicator", "has two groups", "use a communicator with one group");
  if (first < 0 || first >= size()) refuse_rank("range", "first", first);
  if (last < 0 || last >= size()) refuse_rank("range", "last", last);
  if (stride == 0) refuse_number("stride", stride, "pass 1 for one rank, else a divisor of last - first");
  // A division takes as long as all the rest of this.
  const auto steps = [&](int distance) {
    return stride == 1 ? distance : stride == -1 ? -distance : distance / stride;
  };
  const int n = steps(last - first) + 1, own = steps(rank() - first);
  if (n < 1 || first + (n - 1) * stride != last)
    refuse("range", "stride",
           "is " + std::to_string(stride) + ", which does not lead from " + std::to_string(first) + " to " +
               std::to_string(last),
           "pass a divisor of last - first");
  if (own < 0 || own >= n || first + own * stride != rank())
    refuse("range", "first, last, stride", "leave this rank out", "make a group on its members only");
  const auto number = [](int i) { return std::uint64_t{static_cast<std::uint32_t>(i)}; };
  return made_locally(members_.part(first, stride, n, own),
                      name_.with(number(first) << 32 | number(n), number(stride)));
}

communicator_handle communicator_impl::list(std::span<const int> ranks) {
  refuse_freed("list");
  refuse_few("list");
  if (inter()) refuse("list", "communicator", "has two groups", "use a communicator with one group");
  const int p = size(), n = static_cast<int>(ranks.size());
  std::vector<bool> seen(static_cast<std::size_t>(p));
  group_name name = name_.with(~std::uint64_t{0});
  std::vector<int> addresses;
  addresses.reserve(ranks.size());
  int own = -1;
  for (int i = 0; i < n; ++i) {
    const int r = ranks[static_cast<std::size_t>(i)];
    if (r < 0 || r >= p)
      refuse("list", "ranks",
             "names rank " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(size() - 1),
             "name ranks of this communicator");
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
communicator_handle communicator_impl::split(int color, int key, const char* operation, int bins) {
  refuse_freed(operation);
  if (inter()) refuse(operation, "communicator", "has two groups", "use a communicator with one group");
  if (shared_->set.check) compare_with_others(nullptr, nullptr, operation);
  struct wish {
    std::uint64_t number;
    int color, key;
  };
  const wish mine{next_number(), color, bins == any_color ? key : bins};
  std::vector<wish> all(static_cast<std::size_t>(size()));
  exchange(collective::allgather, &mine, all.data(), sizeof mine, operation);
  const std::vector<int> few = knows_all() ? std::vector<int>() : addresses(operation);
  std::vector<int> ranks;
  std::uint64_t number = 0;
  const auto of = [&](int r) -> const wish& { return all[static_cast<std::size_t>(r)]; };
  for (int r = 0; r < size(); ++r) {
    number = std::max(number, of(r).number);
    if (bins != any_color && of(r).key != bins)
      throw mismatch_error(operation, rank(), "bins",
                           "is " + std::to_string(bins) + ", but " + std::to_string(of(r).key) + " on rank " +
                               std::to_string(r),
                           "pass the same number of bins on all ranks", place());
    if (bins < 0) refuse(operation, "bins", "is " + std::to_string(bins), "pass 0 bins or more");
    if (bins != any_color && of(r).color >= bins)
      refuse(operation, "bin",
             "is " + std::to_string(of(r).color) + " on rank " + std::to_string(r) + ", but there are " +
                 std::to_string(bins) + " bins",
             ("pass 0 to " + std::to_string(bins - 1) + ", or a negative bin for no group").c_str());
    if (of(r).color == color) ranks.push_back(r);
  }
  shared_->next_id = number + 1;
  if (color < 0) return communicator_handle();
  const auto before = [&](int a, int b) { return of(a).key < of(b).key; };
  if (!std::is_sorted(ranks.begin(), ranks.end(), before))
    std::stable_sort(ranks.begin(), ranks.end(), before);
  const int own = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
  for (int& r : ranks) r = knows_all() ? members_.address(r) : few[static_cast<std::size_t>(r)];
  return of_members(group::of(std::move(ranks), own), number);
}

std::vector<int> communicator_impl::addresses(const char* operation) {
  std::vector<int> all(static_cast<std::size_t>(size()));
  if (knows_all()) {
    for (int r = 0; r < size(); ++r) all[static_cast<std::size_t>(r)] = members_.address(r);
  } else {
    const int own = members_.address(rank());
    exchange(collective::allgather, &own, all.data(), sizeof own, operation);
  }
  return all;
}

distinct_number communicator_impl::number_distinct(std::string_view text) {
  refuse_freed("number_distinct");
  if (inter())
    refuse("number_distinct", "communicator", "has two groups", "use a communicator with one group");
  if (shared_->set.check) compare_with_others(nullptr, nullptr, "number_distinct");
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

communicator_handle communicator_impl::of_members(const group& members, std::uint64_t number) {
  shared_->next_id = number + 1;
  // Groups of one number have no member in common; their first members tell them apart.
  const group_name name = group_name{1, number}.with(static_cast<std::uint64_t>(members.first_address()));
  return communicator_handle(new (*shared_) communicator_impl(shared_, members, name));
}

// The leaders exchange what their groups are; the ranks of both are then one group, of which the one whose
// leader has the lower rank comes first.
communicator_handle communicator_impl::between_groups(communicator_impl& local, int remote_leader) {
  refuse_freed("inter");
  local.refuse_freed("inter");
  refuse_few("inter");
  local.refuse_few("inter");
  if (inter() || local.inter())
    refuse("inter", inter() ? "communicator" : "local", "has two groups", "use communicators with one group");
  const bool leads = local.rank() == 0;
  if (leads && (remote_leader < 0 || remote_leader >= size()))
    refuse_rank("inter", "remote_leader", remote_leader);
  struct side {
    std::uint64_t number;
    int leader, size;
  };
  // The number that both can use, of the own group.
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(local.size()));
  const std::uint64_t next = next_number();
  local.exchange(collective::allgather, &next, numbers.data(), sizeof next, "inter");
  side mine{*std::max_element(numbers.begin(), numbers.end()), rank(), local.size()}, theirs{};
  std::vector<int> own, others;
  for (int r = 0; r < local.size(); ++r) own.push_back(local.members_.address(r));
  const auto from_leader = [&](void* data, std::size_t bytes) {
    call c;
    c.what = collective::bcast;
    c.type = element_of<std::byte>();
    c.count = bytes;
    c.input = c.output = data;
    c.label = "inter";
    local.carry_out(c, local.find(c));
  };
  if (leads) make_hops("inter", {remote_leader, &mine, sizeof mine, remote_leader, &theirs, sizeof theirs});
  from_leader(&mine, sizeof mine);
  from_leader(&theirs, sizeof theirs);
  others.resize(static_cast<std::size_t>(theirs.size));
  if (leads)
    make_hops("inter", {remote_leader, own.data(), own.size() * sizeof(int), remote_leader, others.data(),
                        others.size() * sizeof(int)});
  from_leader(others.data(), others.size() * sizeof(int));
  for (const int r : others)
    if (std::find(own.begin(), own.end(), r) != own.end())
      refuse("inter", "local", "has a rank that is also in the other group",
             "pass groups without common ranks");
  const std::uint64_t number = std::max(mine.number, theirs.number);
  shared_->next_id = number + 1;
  const bool first = mine.leader < theirs.leader;
  std::vector<int> all = first ? own : others;
  all.insert(all.end(), first ? others.begin() : own.begin(), first ? others.end() : own.end());
  const int place = local.rank() + (first ? 0 : theirs.size);
  const group both = group::of(std::move(all), place);
  const group_name name = group_name{1, number}.with(static_cast<std::uint64_t>(both.address(0)));
  communicator_handle made(new (*shared_) communicator_impl(shared_, both, name));
  made->topology_.first_group = first ? mine.size : theirs.size;
  made->within_ = communicator_handle(new (*shared_) communicator_impl(shared_, both, name.with(1)));
  return made;
}

int communicator_impl::translate(int rank, const communicator_impl& to, const char* operation) const {
  if (rank == rank::null) return rank::null;
  refuse_freed(operation);
  to.refuse_freed(operation);
  if (rank < 0 || rank >= size()) refuse_rank(operation, "rank", rank);
  if (!members_.knows(rank))
    refuse(operation, "rank",
           "is " + std::to_string(rank) + ", which rank " + std::to_string(this->rank()) + " does not know",
           "translate a rank that is known here, or use split(0), which knows all ranks");
  const int found = to.members_.rank_of(members_.address(rank));
  if (found < 0 && !to.knows_all())
    refuse(operation, "rank",
           "is " + std::to_string(rank) + ", which this rank does not know in the other communicator",
           "translate to split(0) of the other one, which knows all ranks");
  return found < 0 ? rank::null : found;
}

void communicator_impl::make_hops(const char* operation, const leg& one, const leg& other) {
  refuse_freed(operation);
  be_open();
  hop both(*where_, *links_, operation);
  guarded([&] {
    both.begin(one);
    both.begin(other);
    if (shared_->active.empty())
      both.go_on(true);
    else
      finish(both);
  });
}

}  // namespace tutti::detail
