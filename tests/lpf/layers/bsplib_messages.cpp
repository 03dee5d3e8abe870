// SPDX-License-Identifier: Apache-2.0
//
// Tests BSPlib's messages: every process must read in each superstep the messages that a model
// predicts.
#include <algorithm>

#include "bsplib.hpp"

using namespace layers;

namespace {

void check_empty(bsplib_t b) {
  std::size_t n = 1, bytes = 1, status = 1;
  CHECK_BSPLIB(bsplib_qsize(b, &n, &bytes));
  CHECK(n == 0 && bytes == 0);
  CHECK_BSPLIB(bsplib_get_tag(b, &status, nullptr));
  CHECK(status == SIZE_MAX);
  CHECK(bsplib_move(b, nullptr, 0) == BSPLIB_ERR_EMPTY_MESSAGE_QUEUE);
  const void *tag = &n, *payload = &n;
  CHECK(bsplib_hpmove(b, &tag, &payload) == SIZE_MAX && tag == nullptr && payload == nullptr);
}

struct message {
  std::vector<unsigned char> tag, payload;
};

std::vector<message> messages(std::uint64_t step, lpf_pid_t from, lpf_pid_t to, std::size_t tag_size) {
  std::vector<message> all(hash_of({step, from, to}) % 4);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t seed = hash_of({step, from, to, i});
    all[i] = {bytes_of(seed, tag_size), bytes_of(seed + 1, seed % 3 == 0 ? 0 : seed % 90)};
  }
  return all;
}

// Receives one message, in one of the possible ways.
void check_one(bsplib_t b, const message& m, std::uint64_t way) {
  std::size_t status = 0;
  std::vector<unsigned char> tag(m.tag.size()), payload(m.payload.size() + 5, 77);
  CHECK_BSPLIB(bsplib_get_tag(b, &status, tag.empty() ? nullptr : tag.data()));
  CHECK(status == m.payload.size() && tag == m.tag);
  if (way % 3 == 0) {
    const void *tag_at = nullptr, *payload_at = nullptr;
    CHECK(bsplib_hpmove(b, &tag_at, &payload_at) == status);
    CHECK(same(tag_at, m.tag) && same(payload_at, m.payload));
    CHECK(reinterpret_cast<std::uintptr_t>(tag_at) % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(payload_at) % 16 == 0);
    return;
  }
  const std::size_t capacity = way % 3 == 1 ? status / 2 : status + 5;
  CHECK_BSPLIB(bsplib_move(b, payload.data(), capacity));
  const std::size_t n = std::min(capacity, status);
  for (std::size_t i = 0; i < payload.size(); ++i) CHECK(payload[i] == (i < n ? m.payload[i] : 77));
}

// Tag sizes change often; the size of the superstep in which a message is sent applies.
void drawn_messages(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    check_empty(on.b);
    std::size_t tag_size = 0;
    for (std::uint64_t step = 0; step < 20; ++step) {
      const std::size_t next = hash_of({step}) % 3 == 0 ? hash_of({step, 1}) % 20 : tag_size;
      if (next != tag_size) {
        CHECK(bsplib_set_tagsize(on.b, next + 1) == tag_size);
        CHECK(bsplib_set_tagsize(on.b, next) == tag_size);
      }
      std::vector<std::vector<message>> sent;  // the buffers must live until the sync
      for (lpf_pid_t k = 0; k < p; ++k)
        sent.push_back(messages(step, s, step % 2 == 0 ? k : p - 1 - k, tag_size));
      // One process after the other, or in turn.
      const std::size_t turns = step % 3 == 0 ? 4 : 1;
      for (std::size_t turn = 0; turn < turns; ++turn)
        for (lpf_pid_t k = 0; k < p; ++k)
          for (std::size_t i = 0; i < sent[k].size(); ++i) {
            if (turns > 1 && i != turn) continue;
            message& m = sent[k][i];
            const bool late = hash_of({step, s, k, i, 9}) % 2 == 0;
            CHECK_BSPLIB((late ? bsplib_hpsend : bsplib_send)(
                on.b, step % 2 == 0 ? k : p - 1 - k, m.tag.data(), m.payload.data(), m.payload.size()));
            if (!late) {  // the buffer has been copied
              std::fill(m.tag.begin(), m.tag.end(), 0);
              std::fill(m.payload.begin(), m.payload.end(), 0);
            }
          }
      on.sync();
      std::vector<message> expected;
      for (lpf_pid_t from = 0; from < p; ++from)
        for (message& m : messages(step, from, s, tag_size)) expected.push_back(m);
      std::size_t remaining = 0, bytes = 0, expected_bytes = 0;
      for (const message& m : expected) expected_bytes += m.payload.size();
      // The unread messages are discarded.
      const std::size_t read = step % 4 == 3 ? expected.size() / 2 : expected.size();
      for (std::size_t i = 0; i < read; ++i) {
        CHECK_BSPLIB(bsplib_qsize(on.b, &remaining, &bytes));
        CHECK(remaining == expected.size() - i && bytes == expected_bytes);
        check_one(on.b, expected[i], step + i);
        expected_bytes -= expected[i].payload.size();
      }
      if (read == expected.size()) check_empty(on.b);
      tag_size = next;
    }
    on.sync();
    check_empty(on.b);
  }
}

// All processes send more messages to one than ever before.
void many(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args, 0);
  CHECK(bsplib_set_tagsize(on.b, 4) == 0);
  on.sync();
  const std::size_t n = 5000;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t value = i * 100 + s;
    const unsigned tag = s;
    CHECK_BSPLIB(bsplib_send(on.b, i % 2 == 0 ? 0 : p - 1, &tag, &value, i % 9));
  }
  on.sync();
  std::size_t remaining = 0;
  CHECK_BSPLIB(bsplib_qsize(on.b, &remaining, nullptr));
  CHECK(remaining == (p == 1 ? n : s == 0 || s == p - 1 ? p * n / 2 : 0));
  for (lpf_pid_t from = 0; from < p && remaining > 0; ++from)
    for (std::size_t i = 0; i < n; ++i) {
      if ((i % 2 == 0 ? 0 : p - 1) != s) continue;
      unsigned tag = ~0u;
      std::size_t status = 0;
      std::uint64_t value = 0;
      const std::uint64_t expected = i * 100 + from;
      CHECK_BSPLIB(bsplib_get_tag(on.b, &status, &tag));
      CHECK_BSPLIB(bsplib_move(on.b, &value, 8));
      CHECK(tag == from && status == i % 9 && std::memcmp(&value, &expected, status) == 0);
    }
  check_empty(on.b);
}

// Long messages, with puts, gets and a registration in the same superstep.
void beside_all_else(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  const std::size_t n = 50000;
  std::vector<unsigned char> x(n), y(n), got(n), mine = bytes_of(s, n);
  CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), n));
  on.sync();
  const lpf_pid_t right = (s + 1) % p, left = (s + p - 1) % p;
  for (int step = 0; step < 3; ++step) {
    CHECK_BSPLIB(bsplib_send(on.b, right, nullptr, mine.data(), n));
    CHECK_BSPLIB(bsplib_put(on.b, right, mine.data(), x.data(), 0, n));
    CHECK_BSPLIB(bsplib_get(on.b, left, x.data(), 0, got.data(), n));
    CHECK_BSPLIB(bsplib_hpsend(on.b, left, nullptr, mine.data(), n - 1));
    CHECK_BSPLIB(bsplib_push_reg(on.b, y.data(), n));
    on.sync();
    CHECK(x == bytes_of(left, n));
    CHECK(got == (step == 0 ? std::vector<unsigned char>(n) : bytes_of((left + p - 1) % p, n)));
    std::vector<message> expected;
    for (lpf_pid_t from = 0; from < p; ++from) {
      if (from == left) expected.push_back({{}, bytes_of(from, n)});
      if (from == right) expected.push_back({{}, bytes_of(from, n - 1)});
    }
    for (const message& m : expected) check_one(on.b, m, step);
    check_empty(on.b);
    CHECK_BSPLIB(bsplib_put(on.b, right, &step, y.data(), n - sizeof step, sizeof step));
    CHECK_BSPLIB(bsplib_pop_reg(on.b, y.data()));
    on.sync();
    CHECK(std::memcmp(&y[n - sizeof step], &step, sizeof step) == 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"drawn_messages", &drawn_messages}, {"many", &many}, {"beside_all_else", &beside_all_else}});
}
