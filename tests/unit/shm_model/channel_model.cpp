// SPDX-License-Identifier: Apache-2.0
//
// Searches all interleavings of short programs over channels between two and three processes. Each
// message is delivered once, in order and intact. No process sleeps for ever, and no slot or cell
// is reused while it is read. The library's code has no error, so each kind of error is made on
// purpose, and the search must find it.
#include <array>
#include <iostream>
#include <memory>

#include <gtest/gtest.h>

#include "transport/shm/process_receiver.hpp"
#include "transport/shm/process_sender.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace {

// Two slots, and messages of at most 8 bytes inline.
struct small_traits {
  static constexpr std::uint32_t slot_count = 2;
  static constexpr std::size_t inline_bytes = 8;
  static constexpr std::uint32_t rendezvous_count = 2;
  static constexpr bool pieces_without_cells = true;
};
struct waiting_traits : small_traits {
  static constexpr bool pieces_without_cells = false;
};
constexpr std::size_t cell_bytes = 16;
constexpr std::uint64_t a = 1, b = 2;  // tags

template <class T>
struct layout {
  static constexpr std::size_t words = 0, lines = 128;
  int ranks;
  std::uint32_t cells;
  std::size_t line(int from, int to) const {
    return lines + static_cast<std::size_t>(from * ranks + to) * sizeof(process_lines<T>);
  }
  std::size_t cell(int rank) const {
    return line(ranks, 0) + static_cast<std::size_t>(rank) * cells * cell_bytes;
  }
  std::size_t data(int rank) const { return cell(ranks) + static_cast<std::size_t>(rank) * 64; }
  std::size_t bytes() const { return data(ranks); }
};

// One rank: its ends of the channels that it uses.
template <class T>
class rank_process {
 public:
  using sender = process_sender<model_memory, T>;
  using receiver = process_receiver<model_memory, T>;

  rank_process(layout<T> l, int rank, std::uint32_t start = 0)
      : layout_(l),
        start_(start),
        words_(shared, l.ranks, rank, how().fenced),
        pool_(shared + l.cell(rank), l.cells, cell_bytes) {}

  sender& to(int r) {
    auto& one = senders_[static_cast<std::size_t>(r)];
    if (!one) one = std::make_unique<sender>(lines(words_.rank(), r), pool_, words_, r, start_);
    return *one;
  }
  receiver& from(int r) {
    auto& one = receivers_[static_cast<std::size_t>(r)];
    if (!one) {
      const typename receiver::peer peer{r, 0, shared + layout_.cell(r), cell_bytes};
      one = std::make_unique<receiver>(lines(r, words_.rank()), peer, words_, refusals_, start_);
    }
    return *one;
  }
  template <class Ready>
  void wait(std::uint32_t reasons, Ready&& ready) {
    model_waiter waiter;
    wait_until(words_, reasons, waiter, ready);
  }
  // The content of a message depends on its tag, its size and `version`.
  static std::array<std::byte, 64> content(std::uint64_t tag, std::size_t bytes, int version = 0) {
    std::array<std::byte, 64> made{};
    for (std::size_t i = 0; i < bytes; ++i)
      made[i] = static_cast<std::byte>(16 * tag + 64 * static_cast<std::size_t>(version) + i);
    return made;
  }
  void send(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const auto made = content(tag, bytes, version);
    send_request request{tag, made.data(), bytes};
    to(r).start(request);
    finish(r, request);
  }
  void finish(int r, send_request& request) {
    wait(wait_for_space, [&] {
      if (!request.is_complete()) to(r).progress();
      return request.is_complete();
    });
  }
  void recv(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    std::array<std::byte, 64> target{};
    recv_request request{tag, target.data(), target.size()};
    from(r).start(request);
    wait(wait_for_message, [&] {
      if (!request.is_complete()) from(r).progress();
      return request.is_complete();
    });
    require(request.bytes == bytes, "a message has another length");
    require(target == content(tag, bytes, version), "a message is not intact");
  }
  void post(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const auto made = content(tag, bytes, version);
    wait(wait_for_space, [&] { return to(r).post(tag, made.data(), bytes); });
  }
  void find(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const std::byte* found = nullptr;
    wait(wait_for_message, [&] { return (found = from(r).find(tag, bytes)) != nullptr; });
    std::array<std::byte, 64> seen{};
    model_memory::read(seen.data(), found, bytes);
    from(r).consume();
    require(seen == content(tag, bytes, version), "a message is not intact");
  }

 private:
  process_lines<T>& lines(int sender_rank, int receiver_rank) const {
    return *reinterpret_cast<process_lines<T>*>(shared + layout_.line(sender_rank, receiver_rank));
  }

  layout<T> layout_;
  std::uint32_t start_;
  wakeup_words<model_memory> words_;
  cell_pool<sender> pool_;
  refusal_report refusals_;
  std::array<std::unique_ptr<sender>, 3> senders_;
  std::array<std::unique_ptr<receiver>, 3> receivers_;
};

template <class T = small_traits>
scenario of(std::uint32_t cells, std::vector<std::function<void(rank_process<T>&)>> programs, options how,
            std::uint32_t start = 0) {
  const layout<T> l{static_cast<int>(programs.size()), cells};
  cells_begin = shared + l.cell(0);
  cells_end = shared + l.data(0);
  scenario s;
  s.memory_bytes = l.bytes();
  EXPECT_LE(s.memory_bytes, sizeof shared);
  s.how = how;
  for (std::size_t i = 0; i < programs.size(); ++i)
    s.processes.push_back([l, i, start, program = programs[i]] {
      rank_process<T> me(l, static_cast<int>(i), start);
      program(me);
    });
  s.prepare = [l, start] {
    for (int from = 0; from < l.ranks; ++from)
      for (int to = 0; to < l.ranks; ++to) {
        auto& lines = *reinterpret_cast<process_lines<T>*>(shared + l.line(from, to));
        for (process_slot& slot : lines.ring) store(&slot.sequence, &start, sizeof start, store_kind::plain);
        store(&lines.consumed, &start, sizeof start, store_kind::plain);
      }
  };
  return s;
}

using process = rank_process<small_traits>;

// With barriers and in fenced mode. The relaxed memory model has all executions of TSO.
template <class Make>
void expect_correct(const char* what, Make&& make) {
  for (const bool fenced : {false, true}) {
    options how;
    how.fenced = fenced;
    const result r = search(make(how));
    EXPECT_EQ(r.violation, "") << what << (fenced ? ", fenced" : "");
    std::cout << what << (fenced ? ", fenced: " : ": ") << r.states << " states\n";
  }
}
// For programs with too many states if the processes sleep.
template <class Make>
void expect_correct_polling(const char* what, Make&& make) {
  options how;
  how.polls = true;
  const result r = search(make(how));
  EXPECT_EQ(r.violation, "") << what << ", polling";
  std::cout << what << ", polling: " << r.states << " states\n";
}

TEST(channel_model, delivers_messages_of_each_kind_in_order) {
  const auto make = [](std::initializer_list<std::size_t> sizes) {
    return [sizes = std::vector(sizes)](options how) {
      return of(2,
                {[=](process& me) {
                   for (const std::size_t n : sizes) me.send(1, a, n, static_cast<int>(n) / 8);
                 },
                 [=](process& me) {
                   for (const std::size_t n : sizes) me.recv(0, a, n, static_cast<int>(n) / 8);
                 }},
                how);
    };
  };
  expect_correct("inline", make({0, 8, 1}));
  expect_correct("inline and cells", make({8, 9}));
  expect_correct_polling("pieces", make({60}));
  expect_correct_polling("all kinds", make({16, 24, 8}));
}

TEST(channel_model, delivers_messages_without_requests) {
  expect_correct("post and find", [](options how) {
    return of(1,
              {[](process& me) {
                 for (int i = 0; i < 3; ++i) me.post(1, a, i == 1 ? 8 : 16, i);
               },
               [](process& me) {
                 for (int i = 0; i < 3; ++i) me.find(0, a, i == 1 ? 8 : 16, i);
               }},
              how);
  });
}

TEST(channel_model, keeps_unexpected_messages) {
  expect_correct("unexpected", [](options how) {
    return of(1,
              {[](process& me) {
                 me.send(1, a, 24);
                 me.send(1, b, 8);
               },
               [](process& me) {
                 me.recv(0, b, 8);
                 me.recv(0, a, 24);
               }},
              how);
  });
}

TEST(channel_model, answers) {
  expect_correct("ping-pong", [](options how) {
    return of(1,
              {[](process& me) {
                 for (int i = 0; i < 2; ++i) me.send(1, a, 8, i), me.recv(1, b, 16, i);
               },
               [](process& me) {
                 for (int i = 0; i < 2; ++i) me.recv(0, a, 8, i), me.send(0, b, 16, i);
               }},
              how);
  });
}

TEST(channel_model, wraps_its_sequence_numbers) {
  expect_correct("wrap", [](options how) {
    return of(1,
              {[](process& me) {
                 for (int i = 0; i < 3; ++i) me.post(1, a, 8, i);
               },
               [](process& me) {
                 for (int i = 0; i < 3; ++i) me.find(0, a, 8, i);
               }},
              how, ~std::uint32_t{1});
  });
}

// The sender reuses its memory when a message by address is complete.
void send_by_address(process& me, int r, std::uint64_t tag, std::byte* data, bool reuse) {
  const auto made = process::content(tag, 24);
  store(data, made.data(), 24, store_kind::plain);
  me.to(r).set_by_address_above(16);
  send_request request{tag, data, 24};
  me.to(r).start(request);
  me.finish(r, request);
  if (!reuse) return;
  const std::array<std::byte, 24> other{};
  store(data, other.data(), 24, store_kind::plain);
}

scenario by_address_scenario(options how) {
  const layout<small_traits> l{2, 2};
  return of(2,
            {[=](process& me) {
               send_by_address(me, 1, a, shared + l.data(0), true);
               me.send(1, b, 8);
             },
             [=](process& me) {
               me.from(0).permit_reads(true);
               me.recv(0, a, 24);
               me.recv(0, b, 8);
             }},
            how);
}

TEST(channel_model, reads_by_address) {
  expect_correct("by address", [](options how) { return by_address_scenario(how); });
}

TEST(channel_model, sends_again_what_could_not_be_read) {
  expect_correct_polling("refused", [](options how) {
    how.refuse_remote_reads = true;
    return by_address_scenario(how);
  });
}

// Rank 0 has one cell. It sends to rank 1 and to rank 2 at the same time. Rank 1 takes its message
// only after one from rank 2, and rank 2 sends that one only after it has received.
template <class T>
scenario exhausted_pool(options how) {
  using one = rank_process<T>;
  return of<T>(1,
               {[](one& me) {
                  const auto first = one::content(a, 16), second = one::content(b, 12);
                  send_request to_1{a, first.data(), 16}, to_2{b, second.data(), 12};
                  me.to(1).start(to_1);
                  me.to(2).start(to_2);
                  me.wait(wait_for_space, [&] {
                    me.to(1).progress();
                    me.to(2).progress();
                    return to_1.is_complete() && to_2.is_complete();
                  });
                },
                [](one& me) {
                  me.recv(2, a, 8);
                  me.recv(0, a, 16);
                },
                [](one& me) {
                  me.recv(0, b, 12);
                  me.post(1, a, 8);
                }},
               how);
}

TEST(channel_model, an_exhausted_pool_blocks_no_other_channel) {
  expect_correct_polling("exhausted pool", [](options how) { return exhausted_pool<small_traits>(how); });
}

// --- Errors that the search must find

template <class Make>
void expect_violation(const char* expected, options how, Make&& make) {
  EXPECT_EQ(search(make(how)).violation, expected);
}

scenario three_messages(options how) {
  return of(1,
            {[](process& me) {
               for (int i = 0; i < 3; ++i) me.send(1, a, 16, i);
             },
             [](process& me) {
               for (int i = 0; i < 3; ++i) me.recv(0, a, 16, i);
             }},
            how);
}
scenario short_messages(options how) {
  return of(1,
            {[](process& me) {
               for (int i = 0; i < 3; ++i) me.post(1, a, 8, i);
             },
             [](process& me) {
               for (int i = 0; i < 3; ++i) me.find(0, a, 8, i);
             }},
            how);
}

TEST(channel_model, three_messages_in_one_cell_are_correct) {
  expect_correct_polling("three messages", [](options how) { return three_messages(how); });
  expect_correct("short messages", [](options how) { return short_messages(how); });
}

TEST(channel_model, finds_a_sequence_number_that_precedes_its_payload) {
  expect_violation("a message is not intact", {.publish_is_relaxed = true}, short_messages);
  // Under TSO the order of the stores is that of the program, so this error has no effect.
  expect_violation("", {.tso = true, .publish_is_relaxed = true}, short_messages);
}

TEST(channel_model, finds_a_cell_that_is_returned_before_it_is_read) {
  expect_violation("a message is not intact", {.tso = true, .reads_cell_after_credit = true}, three_messages);
  expect_violation("a message is not intact", {.fenced = true, .reads_cell_after_credit = true},
                   three_messages);
}

TEST(channel_model, finds_a_sleeper_that_does_not_test_again) {
  expect_violation("deadlock", {.tso = true, .sleeps_without_recheck = true}, short_messages);
  expect_violation("deadlock", {.fenced = true, .sleeps_without_recheck = true}, short_messages);
}

TEST(channel_model, finds_a_missing_barrier) {
  expect_violation("deadlock", {.tso = true, .no_barrier = true}, short_messages);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_barrier = true}, short_messages);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_fence_of_writer = true}, short_messages);
}

TEST(channel_model, finds_the_deadlock_of_a_sender_that_waits_for_any_cell) {
  expect_violation("deadlock", {.polls = true}, exhausted_pool<waiting_traits>);
}

TEST(channel_model, finds_memory_that_is_reused_before_it_is_read) {
  expect_violation("a message is not intact", {.polls = true, .reads_remote_after_acknowledgement = true},
                   [](options how) { return by_address_scenario(how); });
}

}  // namespace
}  // namespace tutti::shm::model
