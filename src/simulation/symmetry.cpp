// SPDX-License-Identifier: Apache-2.0
#include "simulation/symmetry.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

constexpr std::size_t max_transfers = 64;  // of a round of one rank: all pairs of them are compared

bool same(const local_work& a, const local_work& b) { return a.copied == b.copied && a.reduced == b.reduced; }

bool receives(step_kind k) { return k == step_kind::recv || k == step_kind::recv_reduce; }

// Whether the transfers have the same kinds and lengths.
bool equal_transfers(const planned_round& a, const planned_round& b) {
  if (a.sends != b.sends || a.transfers.size() != b.transfers.size() || !same(a.before, b.before))
    return false;
  return std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(),
                    [](const planned_transfer& x, const planned_transfer& y) {
                      return x.bytes == y.bytes && x.kind == y.kind;
                    });
}

class walk {
 public:
  walk(std::span<rank_schedule> all, const std::function<void(double)>& walked)
      : all_(all), walked_(walked), rounds_(all.size()) {}

  std::optional<common_schedule> find() {
    common_schedule found;
    std::vector<planned_round> common;
    std::vector<local_work> after;
    for (;;) {
      const bool more = all_[0].open(rounds_[0]);
      for (std::size_t r = 1; r < all_.size(); ++r)
        if (all_[r].open(rounds_[r]) != more || !same(rounds_[0].before, rounds_[r].before)) return {};
      if (!more) break;
      planned_round& first = rounds_[0];
      if (!is_plain_exchange(first)) return {};
      for (std::size_t r = 1; r < all_.size(); ++r)
        if (!equal_transfers(first, rounds_[r])) return {};
      planned_round one = first;
      for (std::size_t i = 0; i < one.sends; ++i) {
        one.transfers[i].peer = static_cast<std::int32_t>(i);
        ++found.messages;
        found.bytes += one.transfers[i].bytes;
      }
      for (std::size_t i = one.sends; i < one.transfers.size(); ++i)
        if (!match(i, one.transfers[i].peer)) return {};
      common.push_back(std::move(one));
      const local_work work = all_[0].close();
      for (std::size_t r = 1; r < all_.size(); ++r)
        if (!same(all_[r].close(), work)) return {};
      after.push_back(work);
      if (walked_) walked_(static_cast<double>(found.messages) * static_cast<double>(all_.size()));
    }
    found.schedule = rank_schedule(common, after, rounds_[0].before);
    return found;
  }

 private:
  bool is_plain_exchange(const planned_round& r) const {
    if (r.sends * 2 != r.transfers.size() || r.transfers.size() > max_transfers) return false;
    for (std::size_t i = 0; i < r.transfers.size(); ++i) {
      const planned_transfer& t = r.transfers[i];
      if (t.carries_words || !(i < r.sends ? t.kind == step_kind::send : receives(t.kind))) return false;
    }
    return true;
  }

  // The number of the send that matches receive number i of every rank.
  bool match(std::size_t i, std::int32_t& send) const {
    send = -1;
    for (std::size_t r = 0; r < all_.size(); ++r) {
      const auto& mine = rounds_[r].transfers;
      const std::int32_t peer = mine[i].peer;
      if (peer < 0 || static_cast<std::size_t>(peer) >= all_.size() || static_cast<std::size_t>(peer) == r)
        return false;
      std::size_t before = 0;  // receives from the same peer
      for (std::size_t k = rounds_[r].sends; k < i; ++k) before += mine[k].peer == peer;
      const planned_round& theirs = rounds_[static_cast<std::size_t>(peer)];
      std::size_t j = 0;
      for (; j < theirs.sends; ++j)
        if (theirs.transfers[j].peer == static_cast<std::int32_t>(r) && before-- == 0) break;
      if (j == theirs.sends || theirs.transfers[j].bytes != mine[i].bytes) return false;
      if (r == 0) send = static_cast<std::int32_t>(j);
      if (send != static_cast<std::int32_t>(j)) return false;
    }
    return true;
  }

  std::span<rank_schedule> all_;
  const std::function<void(double)>& walked_;
  std::vector<planned_round> rounds_;
};

}  // namespace

bool is_symmetric(const machine& m) noexcept {
  return m.ranks_per_node == 1 && m.network == machine::topology::fat_tree && m.levels.size() == 1 &&
         m.levels[0].parents == 1;
}

std::optional<common_schedule> find_common_schedule(std::span<rank_schedule> all,
                                                    const std::function<void(double)>& walked) {
  std::optional<common_schedule> found;
  const bool words = std::any_of(all.begin(), all.end(), [](rank_schedule& s) { return !s.words().empty(); });
  if (!words && all.size() > 1) found = walk(all, walked).find();
  for (rank_schedule& s : all) s.rewind();
  return found;
}

}  // namespace tutti::simulation
