// SPDX-License-Identifier: Apache-2.0
//
// Numbers of calls and messages wrap while many of them are under way, in every protocol. The first
// numbers are just below 2^32, 2^63 and 2^64.
#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

constexpr std::uint64_t starts[] = {(std::uint64_t{1} << 32) - 3, (std::uint64_t{1} << 63) - 3,
                                    ~std::uint64_t{2}};
constexpr int call_count = 300, window = 40;
constexpr std::size_t address_bytes = sizeof(std::uint64_t);

enum class protocol { lines, slots, root, address };

// A call, as one member makes it in steps. Member `root` is the only owner of calls by address and
// of calls from a root.
class stepped_call {
 public:
  stepped_call(int index, protocol how, std::size_t bytes, std::uint64_t n)
      : number_(n), index_(static_cast<std::uint64_t>(index)), how_(how), bytes_(bytes) {}

  // Continues as far as possible. `by_messages`: this member cannot read the memory of others.
  bool advance(rank_process& me, collectives& of, bool by_messages) {
    if (done_) return true;
    root_ = static_cast<int>(index_ % static_cast<std::uint64_t>(of.size()));
    switch (how_) {
      case protocol::lines:
      case protocol::slots:
        done_ = post(of) && take_all(of);
        break;
      case protocol::root:
        done_ = of.member() == root_ ? post(of) : take(of, root_);
        break;
      default:
        return done_ = of.member() == root_ ? own(me, of) : read(me, of, by_messages);
    }
    if (done_) of.finish(number_);
    return done_;
  }

 private:
  std::vector<std::byte> data_of(int member) const {
    return content(number_ * 31 + static_cast<std::uint64_t>(member), bytes_);
  }
  bool post(collectives& of) {
    if (posted_) return true;
    if (!of.may_post(number_, bytes_)) return false;
    const auto data = data_of(of.member());
    process_memory::write(of.operand(number_, bytes_), data.data(), bytes_);
    of.post(number_, index_);
    of.wake_members();
    return posted_ = true;
  }
  bool take_all(collectives& of) {
    for (; next_ < of.size(); ++next_)
      if (next_ != of.member() && !take(of, next_)) return false;
    return true;
  }
  bool has_posted(collectives& of, int i) const {
    if (!of.has_posted(number_, i)) return false;
    require(of.digest_of(number_, i) == index_, "the post belongs to another call");
    return true;
  }
  bool take(collectives& of, int i) const {
    if (!has_posted(of, i)) return false;
    const auto expected = data_of(i);
    require(std::equal(expected.begin(), expected.end(), of.operand_of(number_, i, bytes_)),
            "an operand is not intact");
    return true;
  }

  bool own(rank_process& me, collectives& of) {
    if (!posted_) {
      if (!of.may_post(number_, address_bytes)) return false;
      data_ = data_of(root_);
      const std::uint64_t address = reinterpret_cast<std::uintptr_t>(data_.data());
      process_memory::write(of.operand(number_, address_bytes), &address, address_bytes);
      of.post(number_, index_);
      of.wake_members();
      of.finish_by_address(number_);
      sends_.resize(static_cast<std::size_t>(of.size()));
      posted_ = true;
    }
    bool finished = true;
    for (int i = 0; i < of.size(); ++i) {
      if (i == root_) continue;
      auto& sent = sends_[static_cast<std::size_t>(i)];
      if (!sent && of.has_requested_messages(number_, i)) {
        sent = std::make_unique<send_request>(send_request{index_, data_.data(), bytes_});
        me.messages.start(i, *sent);
      }
      finished = finished && of.has_finished(number_, i) && (!sent || sent->is_complete());
    }
    return finished;
  }
  bool read(rank_process& me, collectives& of, bool by_messages) {
    if (!has_posted(of, root_)) return false;
    if (by_messages && !of.has_requested_messages(number_, of.member())) of.request_messages();
    data_.resize(bytes_);
    if (of.has_requested_messages(number_, of.member())) {
      if (!received_) {
        received_ = std::make_unique<recv_request>(recv_request{index_, data_.data(), bytes_});
        me.messages.start(root_, *received_);
      }
      if (!received_->is_complete()) return false;
    } else {
      std::uint64_t address = 0;
      process_memory::read(&address, of.operand_of(number_, root_, address_bytes), address_bytes);
      int error = 0;
      require(process_memory::read_remote(me.pids[static_cast<std::size_t>(root_)], data_.data(), address,
                                          bytes_, error) == remote_read::complete,
              "a read is refused");
    }
    require(data_ == data_of(root_), "the data of a call by address are not intact");
    of.finish_by_address(number_);
    return true;
  }

  std::uint64_t number_, index_;
  protocol how_;
  std::size_t bytes_;
  int root_ = 0, next_ = 0;
  bool posted_ = false, done_ = false;
  std::vector<std::byte> data_;
  std::vector<std::unique_ptr<send_request>> sends_;
  std::unique_ptr<recv_request> received_;
};

// Many calls of all protocols at a time. Each member continues them in another order. From the
// middle on, `reader` cannot read the memory of others.
void overlap(rank_process& me, collectives& of, const std::vector<protocol>& all, int reader) {
  std::mt19937 same(3), own(static_cast<unsigned>(me.rank()));
  std::deque<stepped_call> calls;
  test_waiter waiter;
  for (int i = 0; i < call_count || !calls.empty();) {
    for (; i < call_count && calls.size() < window; ++i) {
      const protocol how = all[same() % all.size()];
      const std::size_t sizes[] = {0, 8, 48};
      const std::size_t bytes = how == protocol::slots     ? 49 + same() % (slot_bytes - 49)
                                : how == protocol::address ? 1 + same() % 100'000
                                                           : sizes[same() % 3];
      calls.emplace_back(i, how, bytes, of.begin());
    }
    const bool by_messages = me.rank() == reader && i > call_count / 2;
    me.messages.wait(wait_for_post | wait_for_acknowledgement | wait_for_message | wait_for_space, waiter,
                     [&] {
                       const auto first = own() % calls.size();
                       for (std::size_t k = 0; k < calls.size(); ++k)
                         calls[(first + k) % calls.size()].advance(me, of, by_messages);
                       return calls.front().advance(me, of, by_messages);
                     });
    while (!calls.empty() && calls.front().advance(me, of, by_messages)) calls.pop_front();
  }
}

TEST(wrapping_numbers, calls_with_slots_that_overlap) {
  for (const std::uint64_t start : starts)
    for (const int ranks : {2, 4})
      run_job(ranks, {.collective_start = start}, [](rank_process& me) {
        overlap(me, me.calls, {protocol::lines, protocol::slots, protocol::root, protocol::address}, -1);
      });
}

// The kernel refuses the reads of one rank, which requests messages instead.
TEST(wrapping_numbers, requests_for_messages) {
  for (const std::uint64_t start : starts) {
    // The call that is the first with a request is at the wrap, or long after it.
    for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{call_count / 2}})
      run_job(3, {.start = static_cast<std::uint32_t>(start), .collective_start = start - before},
              [](rank_process& me) {
                overlap(me, me.calls, {protocol::lines, protocol::address, protocol::address}, 1);
              });
  }
}

// Groups without slots have eight lines.
TEST(wrapping_numbers, calls_without_slots_that_overlap) {
  constexpr int ranks = 3;
  constexpr std::size_t bytes = collectives::bytes(0);
  for (const std::uint64_t start : starts) {
    void* const memory =
        mmap(nullptr, ranks * bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::vector<std::byte*> blocks;
    for (int r = 0; r < ranks; ++r) {
      blocks.push_back(static_cast<std::byte*>(memory) + static_cast<std::size_t>(r) * bytes);
      collectives::start_at(blocks.back(), 0, start);
    }
    run_job(ranks, {}, [&](rank_process& me) {
      collectives small(blocks, rank_process::all_ranks(ranks), me.rank(), 0, me.messages.words(), start);
      overlap(me, small, {protocol::lines, protocol::root}, -1);
      require(small.begin() == start + call_count, "the calls have other numbers");
    });
    munmap(memory, ranks * bytes);
  }
}

// Messages with requests and messages of the program, all under way at the same time.
void exchange(rank_process& me) {
  const std::array<std::size_t, 8> sizes = {0, 48, 49, 3000, 8192, 8193, 20'000, 100'000};
  const int ranks = me.messages.ranks();
  const auto seed = [&](int from, int to, std::size_t i) {
    return static_cast<std::uint64_t>(from * 100 + to * 10) + i;
  };
  std::deque<std::vector<std::byte>> data;
  std::deque<send_request> sends;
  std::deque<std::pair<recv_request, std::vector<std::byte>>> recvs;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (int r = 0; r < ranks; ++r) {
      if (r == me.rank()) continue;
      for (const std::uint64_t tag : {std::uint64_t{i}, p2p_tag(5, false, static_cast<int>(i))}) {
        data.push_back(content(seed(me.rank(), r, i), sizes[i]));
        sends.push_back(send_request{tag, data.back().data(), sizes[i]});
        me.messages.start(r, sends.back());
      }
      auto& [request, target] = recvs.emplace_back();
      target.resize(sizes[i]);
      request = recv_request{i, target.data(), sizes[i]};
      me.messages.start(r, request);
    }
  std::vector<std::size_t> next(static_cast<std::size_t>(ranks));
  std::size_t arrived = 0;
  test_waiter waiter;
  me.messages.wait(wait_for_message | wait_for_space, waiter, [&] {
    me.messages.take_arrivals();
    while (p2p_arrival* const one = p2p_arrivals::next(me.messages.arrivals().of(5))) {
      const std::size_t i = next[static_cast<std::size_t>(one->from)]++;
      const auto expected = content(seed(one->from, me.rank(), i), sizes[i]);
      require(one->channel_tag == p2p_tag(5, false, static_cast<int>(i)) && one->bytes_here == sizes[i] &&
                  std::equal(expected.begin(), expected.end(), one->data()),
              "a message of the program is not intact");
      me.messages.arrivals().release(*one);
      ++arrived;
    }
    return arrived == sizes.size() * static_cast<std::size_t>(ranks - 1) &&
           std::all_of(sends.begin(), sends.end(), [](const auto& s) { return s.is_complete(); }) &&
           std::all_of(recvs.begin(), recvs.end(), [](const auto& r) { return r.first.is_complete(); });
  });
  std::size_t k = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (int r = 0; r < ranks; ++r)
      if (r != me.rank())
        require(recvs[k++].second == content(seed(r, me.rank(), i), sizes[i]), "a message is not intact");
}

TEST(wrapping_numbers, messages_that_overlap) {
  // Acknowledgements contain 31 bits of the number.
  for (const std::uint32_t start : {~std::uint32_t{2}, (std::uint32_t{1} << 31) - 3})
    for (const std::size_t by_address : {never, std::size_t{100}})
      for (const std::uint32_t cells : {0u, 1u})
        for (const int ranks : {2, 4})
          run_job(ranks, {.by_address_above = by_address, .start = start, .cells = cells}, exchange);
}

}  // namespace
}  // namespace tutti::shm
