// SPDX-License-Identifier: Apache-2.0
//
// A rank ends at each step of messages between processes: in slots, in cells, in pieces, by
// address, after a refusal, and in the announcements, grants and contents of messages of the
// program.
#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/lost_peers/mortal_job.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t never = ~std::size_t{0};

std::vector<std::byte> content(int from, std::size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(from * 16 + static_cast<int>(bytes % 7)));
}

// All to all, with all messages under way at the same time.
void exchange(mortal_rank& me, const std::vector<std::size_t>& sizes) {
  // A message by address may be read after this rank has left. (The engine sends none.)
  auto& data = *new std::deque<std::vector<std::byte>>;
  std::deque<send_request> sends;
  std::deque<recv_request> recvs;
  std::deque<std::pair<int, std::vector<std::byte>>> targets;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (int r = 0; r < mortal_ranks; ++r) {
      if (r == me.rank()) continue;
      data.push_back(content(me.rank(), sizes[i]));
      sends.push_back(send_request{i, data.back().data(), sizes[i]});
      me.to(r).start(sends.back());
      targets.emplace_back(r, std::vector<std::byte>(sizes[i]));
      recvs.push_back(recv_request{i, targets.back().second.data(), sizes[i]});
      me.from(r).start(recvs.back());
    }
  me.wait([&] {
    for (const send_request& one : sends)
      if (!one.is_complete()) return false;
    for (const recv_request& one : recvs)
      if (!one.is_complete()) return false;
    return true;
  });
  for (const auto& [from, got] : targets)
    require(got == content(from, got.size()), "a message is not intact");
}

TEST(lost_in_messages, in_slots_and_cells) {
  end_at_every_step(10, never, [](mortal_rank& me) { exchange(me, {0, 48, 500}); });
}
// The pool has fewer cells than the messages have pieces, so some pieces travel in slots.
TEST(lost_in_messages, in_pieces) {
  end_at_every_step(20, never, [](mortal_rank& me) { exchange(me, {1500}); });
}
TEST(lost_in_messages, by_address) {
  end_at_every_step(8, 600, [](mortal_rank& me) { exchange(me, {3000, 100'000}); });
}
TEST(lost_in_messages, after_refused_reads) {
  end_at_every_step(8, 600, [](mortal_rank& me) {
    mortal_memory::reads_refused = me.rank() != 1;
    exchange(me, {1200});
  });
}

p2p_arrival& next_of(mortal_rank& me, p2p_arrivals::queue& of) {
  p2p_arrival* found = nullptr;
  me.wait([&] { return (found = p2p_arrivals::next(of)) != nullptr; });
  return *found;
}

// To the right neighbor: a short message, and a long one that is announced. Its contents follow
// when the receiver has granted them.
TEST(lost_in_messages, of_the_program) {
  end_at_every_step(12, never, [](mortal_rank& me) {
    const int right = (me.rank() + 1) % mortal_ranks, left = (me.rank() + 2) % mortal_ranks;
    const auto brief = content(me.rank(), 20), all = content(me.rank(), 1200);
    const p2p_announcement announced{all.size(), 4};
    send_request sends[] = {
        {p2p_tag(3, false, 1), brief.data(), brief.size()},
        {p2p_tag(3, true, 2), reinterpret_cast<const std::byte*>(&announced), sizeof announced}};
    for (send_request& one : sends) me.to(right).start(one);

    p2p_arrival& first = next_of(me, me.arrivals.of(3));
    const auto expected = content(left, 20);
    require(first.from == left && first.channel_tag == p2p_tag(3, false, 1) && first.bytes_here == 20 &&
                std::equal(expected.begin(), expected.end(), first.data()),
            "a short message is not intact");
    me.arrivals.release(first);
    p2p_arrival& second = next_of(me, me.arrivals.of(3));
    p2p_announcement a;
    std::memcpy(&a, second.data(), sizeof a);
    require(second.is_announced() && a.bytes == 1200 && a.number == 4, "an announcement is not intact");
    me.arrivals.release(second);

    std::vector<std::byte> into(a.bytes);
    recv_request contents{tag_of(message_kind::contents, a.number), into.data(), into.size()};
    me.from(left).start(contents);
    const p2p_grant g{a.number, 0};
    send_request grant{tag_of(message_kind::grant, 0), reinterpret_cast<const std::byte*>(&g), sizeof g};
    me.to(left).start(grant);
    p2p_arrival& granted = next_of(me, me.arrivals.grants());
    require(granted.from == right, "a grant is not intact");
    me.arrivals.release(granted);
    send_request long_one{tag_of(message_kind::contents, announced.number), all.data(), all.size()};
    me.to(right).start(long_one);
    me.wait([&] {
      return contents.is_complete() && long_one.is_complete() && grant.is_complete() &&
             sends[0].is_complete() && sends[1].is_complete();
    });
    require(into == content(left, into.size()), "the contents are not intact");
  });
}

}  // namespace
}  // namespace tutti::shm
