// SPDX-License-Identifier: Apache-2.0
//
// A small allreduce that leaves the combining to its caller: the operand is written where the others read it,
// and theirs are read in place, each from the line that said that it is there. To members that make the same
// call as a visit it is one, so each rank may choose every time. Only where no two members share a worker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/team.hpp"
#include "fabric/waiting.hpp"

namespace tutti::fabric {

class line_exchange {
 public:
  static constexpr std::size_t bytes = team::operand_bytes;

  static bool serves(const team& t) noexcept {
    return t.size() > 1 && t.benches_.size() == static_cast<std::size_t>(t.size());
  }
  /// `next`: the number of the rank's next call on the team. It, team and waiting outlive this.
  line_exchange(team& t, int rank, std::uint32_t& next, waiting& w) noexcept
      : team_(&t), waiting_(&w), next_(&next), rank_(rank) {}

  /// The call: `write(at)` lays the operand down at `at`, `bytes` bytes aligned to 16; returns when all have
  /// come. Throws as the visit does. Who waits looks at the line again and again, and each look that comes
  /// between two stores takes it away from the writer: so `write` should do nothing but write.
  template <class Write>
  void meet(const wait_site& site, Write&& write) {
    const std::uint32_t number = (*next_)++, value = number + 1;
    team::notice_line& mine = line(rank_, number);
    write(mine.data);
    mine.call_is = call_is;
    mine.word.store(value, std::memory_order_release);
    const int size = team_->size();
    for (int r = 0; r < size; ++r)
      if (r != rank_) wake(r);
    for (int r = 0; r < size; ++r)
      if (r != rank_) wait_for(r, number, site);
  }
  /// After it, until the next call of this rank: what a member has written.
  const std::byte* of(int rank) const noexcept { return line(rank, *next_ - 1).data; }

 private:
  static constexpr std::uint64_t call_is = static_cast<std::uint64_t>(collective::allreduce) | bytes << 8;

  // Who sits alone has the bench of the same number.
  team::bench& bench(int rank) const noexcept { return *team_->benches_[static_cast<std::size_t>(rank)]; }
  team::notice_line& line(int rank, std::uint32_t number) const noexcept {
    return bench(rank).meetings[number % team::session_count][0].complete;
  }

  void wake(int rank) {
    doorbell& bell = *bench(rank).worker_bell;
    if (bell.armed.load(std::memory_order_relaxed) != 0) [[unlikely]]
      team_->rings_.ring(bell);
  }
  void wait_for(int rank, std::uint32_t number, const wait_site& site) {
    const team::notice_line& other = line(rank, number);
    while (!reached(other.word.load(std::memory_order_acquire), number + 1))
      waiting_->wait(other.word, number + 1, false, site);
    if (other.call_is != call_is) [[unlikely]] {
      call own;
      own.what = collective::allreduce;
      team::visit::differs(own, rank_, call_is, other.call_is);
    }
  }

  team* team_;
  waiting* waiting_;
  std::uint32_t* next_;
  int rank_;
};

}  // namespace tutti::fabric
