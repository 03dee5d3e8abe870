// SPDX-License-Identifier: Apache-2.0
#include "simulation/symmetry.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

constexpr std::size_t max_transfers = 64;  // of a round of one rank: all pairs of them are compared

bool receives(step_kind k) { return k == step_kind::recv || k == step_kind::recv_reduce; }

// Whether the transfers have the same kinds and lengths.
bool equal_transfers(const planned_round& a, const planned_round& b) {
  if (a.sends != b.sends || a.transfers.size() != b.transfers.size()) return false;
  return std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(),
                    [](const planned_transfer& x, const planned_transfer& y) {
                      return x.bytes == y.bytes && x.kind == y.kind;
                    });
}

class walk {
 public:
  walk(std::span<rank_schedule> all, const machine& m, const std::function<void(double)>& walked)
      : all_(all),
        walked_(walked),
        machine_(m),
        positions_(static_cast<std::size_t>(m.ranks_per_node)),
        rounds_(all.size()),
        work_(all.size()),
        common_(positions_) {
    found_.schedules.resize(positions_);
  }

  std::optional<common_schedule> find() {
    bool more = true;
    while (open_round(more)) {
      if (!more) {
        for (std::size_t q = 0; q < positions_; ++q) found_.schedules[q].append(rounds_[q].before);
        return std::move(found_);
      }
      if (!find_common_round()) return {};
      close_round();
      if (walked_) walked_(static_cast<double>(found_.messages * (all_.size() / positions_)));
    }
    return {};
  }

 private:
  // The peer of a transfer, as seen from every rank of a position.
  struct peer {
    std::size_t position = 0, send = 0;
    bool elsewhere = false;  // on another node

    bool operator==(const peer&) const = default;
  };

  // Opens the next round of all ranks, if there is one. Returns false if nodes differ. A rank does
  // the work after a round and before the next one without a pause, so only their sum matters.
  bool open_round(bool& more) {
    more = all_[0].open(rounds_[0]);
    for (std::size_t r = 0; r < all_.size(); ++r) {
      if (r > 0 && all_[r].open(rounds_[r]) != more) return false;
      work_[r] += rounds_[r].before;
      if (!take_equally_long(work_[r % positions_], work_[r])) return false;
    }
    return true;
  }

  bool take_equally_long(const local_work& a, const local_work& b) const {
    return (a.copied == b.copied || machine_.copy_speed == unlimited) &&
           (a.reduced == b.reduced || machine_.reduce_speed == unlimited);
  }

  // Finds the transfers that the open rounds of all nodes have in common. Returns false if nodes
  // differ. No two receives have the same send, so equal numbers of both leave no send unmatched.
  bool find_common_round() {
    std::size_t sends = 0, transfers = 0;
    for (std::size_t q = 0; q < positions_; ++q) {
      if (!is_plain(rounds_[q])) return false;
      sends += rounds_[q].sends;
      transfers += rounds_[q].transfers.size();
      common_[q] = rounds_[q];
    }
    if (2 * sends != transfers) return false;
    for (std::size_t r = positions_; r < all_.size(); ++r)
      if (!equal_transfers(rounds_[r % positions_], rounds_[r])) return false;
    const int n = static_cast<int>(positions_);
    for (std::size_t q = 0; q < positions_; ++q)
      for (std::size_t i = common_[q].sends; i < common_[q].transfers.size(); ++i) {
        peer from;
        if (!match(q, i, from)) return false;
        common_[q].transfers[i].peer =
            representative_peer(n, static_cast<int>(from.position), from.elsewhere, from.send);
        planned_transfer& sent = common_[from.position].transfers[from.send];
        sent.peer = representative_peer(n, static_cast<int>(q), from.elsewhere, from.send);
        ++found_.messages;
        found_.bytes += sent.bytes;
      }
    return true;
  }

  // Appends the round to the common schedules, with the local work that follows it.
  void close_round() {
    for (std::size_t r = 0; r < all_.size(); ++r) work_[r] = all_[r].close();
    for (std::size_t q = 0; q < positions_; ++q) found_.schedules[q].append(common_[q], work_[q]);
  }

  static bool is_plain(const planned_round& r) {
    if (r.transfers.size() > max_transfers) return false;
    for (std::size_t i = 0; i < r.transfers.size(); ++i) {
      const planned_transfer& t = r.transfers[i];
      if (t.carries_words || !(i < r.sends ? t.kind == step_kind::send : receives(t.kind))) return false;
    }
    return true;
  }

  // The send that matches receive number i of every rank of a position.
  bool match(std::size_t position, std::size_t i, peer& common) const {
    for (std::size_t r = position; r < all_.size(); r += positions_) {
      const auto& mine = rounds_[r].transfers;
      const std::int32_t rank = mine[i].peer;
      if (rank < 0 || static_cast<std::size_t>(rank) >= all_.size() || static_cast<std::size_t>(rank) == r)
        return false;
      std::size_t before = 0;  // receives from the same peer
      for (std::size_t k = rounds_[r].sends; k < i; ++k) before += mine[k].peer == rank;
      const auto from = static_cast<std::size_t>(rank);
      const planned_round& theirs = rounds_[from];
      std::size_t j = 0;
      for (; j < theirs.sends; ++j)
        if (theirs.transfers[j].peer == static_cast<std::int32_t>(r) && before-- == 0) break;
      if (j == theirs.sends || theirs.transfers[j].bytes != mine[i].bytes) return false;
      const peer found{from % positions_, j, from / positions_ != r / positions_};
      if (r == position) common = found;
      if (common != found) return false;
    }
    return true;
  }

  std::span<rank_schedule> all_;
  const std::function<void(double)>& walked_;
  const machine& machine_;
  const std::size_t positions_;
  std::vector<planned_round> rounds_;  // by rank
  std::vector<local_work> work_;       // by rank, since the last transfers
  std::vector<planned_round> common_;  // by position
  common_schedule found_;
};

}  // namespace

bool is_symmetric(const machine& m, int ranks) noexcept {
  return m.network == machine::topology::fat_tree && m.levels.size() == 1 && m.levels[0].parents == 1 &&
         ranks % m.ranks_per_node == 0 && ranks > m.ranks_per_node;
}

std::optional<common_schedule> find_common_schedule(std::span<rank_schedule> all, const machine& m,
                                                    const std::function<void(double)>& walked) {
  std::optional<common_schedule> found;
  const bool words = std::any_of(all.begin(), all.end(), [](rank_schedule& s) { return !s.words().empty(); });
  if (!words) found = walk(all, m, walked).find();
  for (rank_schedule& s : all) s.rewind();
  return found;
}

}  // namespace tutti::simulation
