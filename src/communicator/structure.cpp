// SPDX-License-Identifier: Apache-2.0
//
// Groups whose members know their neighbors only. Their collective operations are scans in both
// directions at once. In round d each member sends its data of the last 2^d members up to itself to
// the member 2^d hops to the right. It also sends the address of the member 2^d hops to its left,
// which the receiver so gets to know at twice the distance. The other direction works alike. After
// ceil(log2(n)) rounds each member has the data of all members to its left and right.
#include "tutti/detail/structure.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "communicator/communicator_impl.hpp"
#include "runtime/executor/hop.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

// The data of some adjacent members: one row for each, or one row for all of them.
using window = std::vector<std::byte>;

// Passes windows on in both directions. `merge` puts a window of members further away before (from
// the left) or behind (from the right) the window that is known.
class bidirectional_scan {
 public:
  bidirectional_scan(const neighbors& chain, const char* operation) : chain_(chain), operation_(operation) {}

  /// `length_of(n)`: bytes of a window of n members. `merge(near, far, left)` adds far to near.
  /// `on_hop(d, left, right)`: the addresses of the members 2^d hops away.
  template <class Length, class Merge, class OnHop>
  void run(const window& own, window& left, window& right, const Length& length_of, const Merge& merge,
           const OnHop& on_hop) {
    window from_left = own, from_right = own;  // with this member's data
    int l = chain_.left, r = chain_.right;
    const int n = chain_.size, me = chain_.rank;
    bool first_left = true, first_right = true;
    for (int d = 0; d < distances(n); ++d) {
      on_hop(d, l, r);
      const int far = 1 << d;
      chain_.parent->state().run_hops(
          operation_, right_.prepare(r, l, l, from_left, length_of(std::min(far, me - far + 1))),
          left_.prepare(l, r, r, from_right, length_of(std::min(far, n - me - far))));
      const int next_l = right_.arrived(l), next_r = left_.arrived(r);
      if (l >= 0) add_received(left, from_left, first_left, right_.received, merge, true);
      if (r >= 0) add_received(right, from_right, first_right, left_.received, merge, false);
      l = next_l, r = next_r;
    }
  }

 private:
  // A message holds the sender's window and the address on its other side.
  struct direction {
    window out, in, received;

    leg prepare(int to, int from, int behind, const window& mine, std::size_t bytes) {
      out.resize(sizeof behind + mine.size());
      std::memcpy(out.data(), &behind, sizeof behind);
      if (!mine.empty()) std::memcpy(out.data() + sizeof behind, mine.data(), mine.size());
      in.resize(from < 0 ? 0 : sizeof behind + bytes);
      return {to, out.data(), out.size(), from, in.data(), in.size()};
    }
    // Returns the address that becomes known on that side.
    int arrived(int from) {
      if (from < 0) return rank::null;
      int behind;
      std::memcpy(&behind, in.data(), sizeof behind);
      received.assign(in.begin() + sizeof behind, in.end());
      return behind;
    }
  };
  template <class Merge>
  static void add_received(window& without, window& with, bool& first, const window& incoming,
                           const Merge& merge, bool left) {
    if (first)
      without = incoming;
    else
      merge(without, incoming, left);
    first = false;
    merge(with, incoming, left);
  }

  neighbors chain_;
  const char* operation_;
  direction right_, left_;  // where to
};

// Exchanges addresses only.
template <class OnHop>
void exchange_hops(const neighbors& chain, const char* operation, const OnHop& on_hop) {
  window left, right;
  bidirectional_scan(chain, operation)
      .run(
          {}, left, right, [](int) { return std::size_t{0}; }, [](window&, const window&, bool) {}, on_hop);
}

// The members of one bin on one side: their number, the nearest and the farthest.
struct bin_side {
  int count, nearest, farthest;
};

neighbors no_neighbors(communicator_impl* parent) {
  neighbors none;
  none.parent = parent;
  return none;
}

}  // namespace

neighbors neighbors_in(communicator_impl& parent, bool wraps, const char* operation) {
  if (operation == nullptr) operation = wraps ? "ring" : "chain";
  parent.state().validate_usable_at_entry(operation);
  parent.state().validate_knows_all(operation);
  neighbors all{&parent, parent.size(), parent.rank(), parent.rank(), parent.rank() - 1, parent.rank() + 1};
  if (all.rank == 0) all.left = wraps ? all.size - 1 : rank::null;
  if (all.rank == all.size - 1) all.right = wraps ? 0 : rank::null;
  return all;
}

neighbors neighbors_in(communicator_impl& parent, bool wraps, std::span<const int> ranks) {
  const char* const operation = wraps ? "ring" : "chain";
  parent.state().validate_usable_at_entry(operation);
  parent.state().validate_knows_all(operation);
  const int p = parent.size(), n = static_cast<int>(ranks.size());
  std::vector<bool> seen(static_cast<std::size_t>(p));
  neighbors all;
  all.parent = &parent;
  all.size = n;
  for (int i = 0; i < n; ++i) {
    const int r = ranks[static_cast<std::size_t>(i)];
    if (r < 0 || r >= p || seen[static_cast<std::size_t>(r)])
      parent.state().reject(operation, "ranks",
                            "names rank " + std::to_string(r) + (r < 0 || r >= p ? "" : " twice") +
                                ", but ranks are 0 to " + std::to_string(p - 1),
                            "name each member once");
    seen[static_cast<std::size_t>(r)] = true;
    if (r == parent.rank()) all.rank = i, all.address = r;
  }
  if (all.address < 0)
    parent.state().reject(operation, "ranks", "does not contain this rank",
                          "make a group on its members only");
  const auto at = [&](int i) { return ranks[static_cast<std::size_t>((i + n) % n)]; };
  if (wraps || all.rank > 0) all.left = at(all.rank - 1);
  if (wraps || all.rank < n - 1) all.right = at(all.rank + 1);
  return all;
}

hops hops_in(communicator_impl& parent, bool wraps) {
  hops h;
  h.all = neighbors_in(parent, wraps, wraps ? "logring" : "logchain");
  std::fill(std::begin(h.left), std::end(h.left), rank::null);
  std::fill(std::begin(h.right), std::end(h.right), rank::null);
  const int n = h.all.size, me = h.all.rank;
  for (int d = 0; d < distances(n); ++d) {
    const int far = 1 << d;
    if (wraps || me >= far) h.left[d] = (me - far + n) % n;
    if (wraps || far < n - me) h.right[d] = static_cast<int>((std::int64_t{me} + far) % n);
  }
  return h;
}

neighbors open_ring(neighbors ring) noexcept {
  if (ring.rank == 0) ring.left = rank::null;
  if (ring.rank == ring.size - 1) ring.right = rank::null;
  return ring;
}

hops open_ring(hops ring) noexcept {
  ring.all = open_ring(ring.all);
  for (int d = 0; d < distances(ring.all.size); ++d) {
    if (ring.all.rank < 1 << d) ring.left[d] = rank::null;
    if (ring.all.size - ring.all.rank <= 1 << d) ring.right[d] = rank::null;
  }
  return ring;
}

// The address of either end is passed along the chain.
neighbors close_chain(const neighbors& chain, const std::source_location& at) {
  if (chain.size == 0) return chain;
  const enclosing_call scope(*chain.parent, "ring", at);
  window own(sizeof(int)), left, right;
  std::memcpy(own.data(), &chain.address, sizeof(int));
  bidirectional_scan(chain, "ring")
      .run(
          own, left, right, [](int) { return sizeof(int); },
          [](window& near, const window& far, bool) { near = far; }, [](int, int, int) {});
  neighbors ring = chain;
  const auto end_of = [&](const window& w) {
    int end = chain.address;
    if (!w.empty()) std::memcpy(&end, w.data(), sizeof end);
    return end;
  };
  if (chain.rank == 0) ring.left = end_of(right);
  if (chain.rank == chain.size - 1) ring.right = end_of(left);
  return ring;
}

hops hops_of(const neighbors& of, bool wraps, const std::source_location& at) {
  const enclosing_call scope(of.parent, wraps ? "logring" : "logchain", at);
  hops h;
  h.all = of;
  if (of.parent != nullptr) of.parent->state().validate_usable_at_entry(wraps ? "logring" : "logchain");
  std::fill(std::begin(h.left), std::end(h.left), rank::null);
  std::fill(std::begin(h.right), std::end(h.right), rank::null);
  if (!wraps) {
    exchange_hops(of, "logchain", [&](int d, int l, int r) { h.left[d] = l, h.right[d] = r; });
    return h;
  }
  int l = of.left, r = of.right;
  for (int d = 0; d < distances(of.size); ++d) {
    h.left[d] = l, h.right[d] = r;
    int next_l = 0, next_r = 0;
    of.parent->state().run_hops("logring", {r, &l, sizeof l, l, &next_l, sizeof l},
                                {l, &r, sizeof r, r, &next_r, sizeof r});
    l = next_l, r = next_r;
  }
  return h;
}

neighbors split_bin(const neighbors& given, bool wraps, int bins, int bin) {
  const neighbors chain = wraps ? open_ring(given) : given;
  if (chain.size == 0) return chain;
  chain.parent->state().validate_usable_at_entry("split_bin");
  if (bins < 0 || bin >= bins)
    chain.parent->state().reject(
        "split_bin", bins < 0 ? "bins" : "bin",
        bins < 0 ? "is " + std::to_string(bins)
                 : "is " + std::to_string(bin) + ", but there are " + std::to_string(bins) + " bins",
        bins < 0 ? "pass 0 bins or more" : "pass 0 to bins - 1, or a negative bin for no group");
  const std::size_t bytes = static_cast<std::size_t>(bins) * sizeof(bin_side);
  const auto bins_of = [](window& w) { return reinterpret_cast<bin_side*>(w.data()); };
  window own(bytes), left(bytes), right(bytes);
  if (bin >= 0) bins_of(own)[bin] = {1, chain.address, chain.address};
  bidirectional_scan(chain, "split_bin")
      .run(
          own, left, right, [&](int) { return bytes; },
          [&](window& near, const window& far, bool) {
            for (int b = 0; b < bins; ++b) {
              bin_side& n = bins_of(near)[b];
              const bin_side& f = reinterpret_cast<const bin_side*>(far.data())[b];
              if (f.count == 0) continue;
              n = n.count == 0 ? f : bin_side{n.count + f.count, n.nearest, f.farthest};
            }
          },
          [](int, int, int) {});
  if (bin < 0) return no_neighbors(chain.parent);
  const bin_side l = bins_of(left)[bin], r = bins_of(right)[bin];
  neighbors part = chain;
  part.size = l.count + 1 + r.count;
  part.rank = l.count;
  part.left = l.count != 0 ? l.nearest : rank::null;
  part.right = r.count != 0 ? r.nearest : rank::null;
  if (wraps && l.count == 0) part.left = r.count != 0 ? r.farthest : chain.address;
  if (wraps && r.count == 0) part.right = l.count != 0 ? l.farthest : chain.address;
  return part;
}

namespace {

// The rows of all members, in the order of ranks, on every member.
template <class Row>
std::vector<Row> all_rows(const neighbors& chain, const char* operation, const Row& own_row) {
  window own(sizeof(Row)), left, right;
  std::memcpy(own.data(), &own_row, sizeof(Row));
  bidirectional_scan(chain, operation)
      .run(
          own, left, right, [](int n) { return static_cast<std::size_t>(std::max(n, 0)) * sizeof(Row); },
          [](window& near, const window& far, bool from_left) {
            near.insert(from_left ? near.begin() : near.end(), far.begin(), far.end());
          },
          [](int, int, int) {});
  std::vector<Row> all(static_cast<std::size_t>(chain.size));
  if (!left.empty()) std::memcpy(all.data(), left.data(), left.size());
  all[static_cast<std::size_t>(chain.rank)] = own_row;
  if (!right.empty()) std::memcpy(all.data() + chain.rank + 1, right.data(), right.size());
  return all;
}

}  // namespace

neighbors split(const neighbors& given, bool wraps, int color, int key) {
  const neighbors chain = wraps ? open_ring(given) : given;
  if (chain.size == 0) return chain;
  chain.parent->state().validate_usable_at_entry("split");
  struct row {
    int address, color, key;
  };
  std::vector<row> all = all_rows(chain, "split", row{chain.address, color, key});
  if (color < 0) return no_neighbors(chain.parent);
  std::erase_if(all, [&](const row& one) { return one.color != color; });
  const auto before = [](const row& a, const row& b) { return a.key < b.key; };
  if (!std::is_sorted(all.begin(), all.end(), before)) std::stable_sort(all.begin(), all.end(), before);
  neighbors part = chain;
  const int n = static_cast<int>(all.size());
  part.size = n;
  part.rank = static_cast<int>(
      std::find_if(all.begin(), all.end(), [&](const row& one) { return one.address == chain.address; }) -
      all.begin());
  const auto at = [&](int i) { return all[static_cast<std::size_t>((i + n) % n)].address; };
  part.left = wraps || part.rank > 0 ? at(part.rank - 1) : rank::null;
  part.right = wraps || part.rank < n - 1 ? at(part.rank + 1) : rank::null;
  return part;
}

namespace {

// The members agree on a number that none has used, and on the address of the first.
communicator_handle make_group_over(communicator_impl& parent, const neighbors& chain, reach knows,
                                    const int* left, const int* right, int distance_count) {
  if (chain.parent != &parent)
    parent.state().reject("over", "members", "have another communicator as their parent",
                          "call over() of the communicator from which they were made");
  if (chain.size == 0)
    parent.state().reject("over", "members", "are empty: this rank is in no group",
                          "call it only if empty() is false");
  parent.state().validate_usable_at_entry("over");
  struct agreed {
    std::uint64_t id;
    std::int32_t end;  // the address of the member furthest away on that side
    std::uint32_t kinds;
  };
  const auto of = [](const window& w) {
    agreed one;
    std::memcpy(&one, w.data(), sizeof one);
    return one;
  };
  agreed all{parent.groups().next_unused_id(), chain.address, 1u << static_cast<unsigned>(knows)};
  window own(sizeof all), before, behind;
  std::memcpy(own.data(), &all, sizeof all);
  bidirectional_scan(open_ring(chain), "over")
      .run(
          own, before, behind, [](int) { return sizeof(agreed); },
          [&](window& near, const window& far, bool) {
            const agreed merged{std::max(of(near).id, of(far).id), of(far).end,
                                of(near).kinds | of(far).kinds};
            std::memcpy(near.data(), &merged, sizeof merged);
          },
          [](int, int, int) {});
  if (!before.empty()) all = {std::max(all.id, of(before).id), of(before).end, all.kinds | of(before).kinds};
  if (!behind.empty()) {
    all.id = std::max(all.id, of(behind).id);
    all.kinds |= of(behind).kinds;
  }
  if (!std::has_single_bit(all.kinds))
    throw mismatch_error("over", parent.rank(), "members", "are structures of different kinds on the ranks",
                         "pass structures of one kind (chain, ring, logchain or logring) on all ranks",
                         parent.state().place());
  const auto in_job = [&](int rank) {
    return rank == rank::null ? rank : parent.state().members().address(rank);
  };
  std::vector<int> l, r;
  for (int d = 0; d < distance_count; ++d) {
    l.push_back(in_job(left[d]));
    r.push_back(in_job(right[d]));
  }
  return parent.groups().make_from_members(
      group::structure(knows, in_job(all.end), in_job(chain.address), chain.size, chain.rank, l, r), all.id);
}

}  // namespace

communicator_handle over(communicator_impl& parent, const neighbors& of, bool wraps) {
  return make_group_over(parent, of, wraps ? reach::neighbors_around : reach::neighbors, &of.left, &of.right,
                         1);
}

communicator_handle over(communicator_impl& parent, const hops& of, bool wraps) {
  return make_group_over(parent, of.all, wraps ? reach::hops_around : reach::hops, of.left, of.right,
                         distances(of.all.size));
}

}  // namespace tutti::detail
