// SPDX-License-Identifier: Apache-2.0
//
// Tests BSMP: every process must receive the messages that a model predicts.
#include "lpf/bsmp.h"

#include <algorithm>

#include "layers.hpp"

using namespace layers;

namespace {

constexpr lpf_sync_attr_t sync_attr = 0;

// Resizes the context for `objects` with so many messages, and for further registers and puts of
// the program.
void resize(lpf_t ctx, lpf_pid_t p, std::size_t objects, std::size_t messages, std::size_t registers = 0,
            std::size_t puts = 0) {
  CHECK_LPF(lpf_resize_memory_register(ctx, 2 * objects + registers));
  CHECK_LPF(lpf_resize_message_queue(ctx, objects * (4 * messages + 2 * p) + puts));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
}

bool is_empty(lpf_bsmp_t b) {
  void *tag = &tag, *payload = &payload;
  std::size_t size = 0;
  CHECK_LPF(lpf_move(b, &tag, &payload, &size));
  return size == LPF_INVALID_SIZE && tag == nullptr && payload == nullptr;
}

// The number of messages that `from` sends to `to`, and their lengths.
struct traffic {
  std::uint64_t seed;
  std::size_t max_messages, max_bytes;
  std::size_t messages(lpf_pid_t from, lpf_pid_t to) const {
    return hash_of({seed, 1, from, to}) % (max_messages + 1);
  }
  std::size_t bytes(lpf_pid_t from, lpf_pid_t to, std::size_t i) const {
    return hash_of({seed, 2, from, to, i}) % 4 == 0 ? 0 : hash_of({seed, 3, from, to, i}) % (max_bytes + 1);
  }
  std::uint64_t content(lpf_pid_t from, lpf_pid_t to, std::size_t i) const {
    return hash_of({seed, 4, from, to, i});
  }
};

// An object, and memory under slots to send from.
struct sender {
  sender(lpf_t context, lpf_pid_t pid, lpf_pid_t nprocs, std::size_t tag_size, std::size_t messages,
         std::size_t bytes, bool global)
      : ctx(context), s(pid), p(nprocs), tag_bytes(tag_size), memory(bytes + messages * tag_size + 1) {
    CHECK_LPF(lpf_bsmp_create(ctx, s, p, bytes, tag_bytes, messages, &object));
    CHECK_LPF(global ? lpf_register_global(ctx, memory.data(), memory.size(), &slot)
                     : lpf_register_local(ctx, memory.data(), memory.size(), &slot));
  }
  void end() {
    CHECK_LPF(lpf_deregister(ctx, slot));
    CHECK_LPF(lpf_bsmp_destroy(&object));
    CHECK(object == LPF_INVALID_BSMP);
  }

  void send(lpf_pid_t to, std::uint64_t content, std::size_t bytes) {
    const auto tag = bytes_of(content, tag_bytes);
    const auto payload = bytes_of(content + 1, bytes);
    std::copy(tag.begin(), tag.end(), memory.begin() + static_cast<std::ptrdiff_t>(used));
    std::copy(payload.begin(), payload.end(), memory.begin() + static_cast<std::ptrdiff_t>(used + tag_bytes));
    CHECK_LPF(lpf_send(object, to, tag_bytes == 0 ? LPF_INVALID_MEMSLOT : slot, used,
                       bytes == 0 ? LPF_INVALID_MEMSLOT : slot, used + tag_bytes, bytes));
    used += tag_bytes + bytes;
  }
  // Sends the messages of this process: all to one process after the other, or in turn.
  void send_all(const traffic& t, bool in_turn) {
    used = 0;
    if (!in_turn) {
      for (lpf_pid_t to = p; to-- > 0;)
        for (std::size_t i = 0; i < t.messages(s, to); ++i) send(to, t.content(s, to, i), t.bytes(s, to, i));
      return;
    }
    for (std::size_t i = 0; i < t.max_messages; ++i)
      for (lpf_pid_t to = 0; to < p; ++to)
        if (i < t.messages(s, to)) send(to, t.content(s, to, i), t.bytes(s, to, i));
  }
  void check_one(std::uint64_t content, std::size_t bytes) {
    void *tag = nullptr, *payload = nullptr;
    std::size_t size = 0;
    CHECK_LPF(lpf_move(object, &tag, &payload, &size));
    CHECK(size == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(tag) % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(payload) % 16 == 0);
    CHECK(same(tag, bytes_of(content, tag_bytes)));
    CHECK(same(payload, bytes_of(content + 1, bytes)));
  }
  // Reads at most `limit` of the received messages.
  void check_all(const traffic& t, std::size_t limit = ~std::size_t{0}) {
    std::size_t read = 0;
    for (lpf_pid_t from = 0; from < p; ++from)
      for (std::size_t i = 0; i < t.messages(from, s); ++i) {
        if (read++ == limit) return;
        check_one(t.content(from, s, i), t.bytes(from, s, i));
      }
    CHECK(is_empty(object));
  }

  lpf_t ctx;
  lpf_pid_t s, p;
  std::size_t tag_bytes;
  std::vector<unsigned char> memory;
  std::size_t used = 0;
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  lpf_bsmp_t object = LPF_INVALID_BSMP;
};

void random_traffic(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  check_processes(s, p, args);
  const std::size_t max_messages = 4, max_bytes = 70;
  resize(ctx, p, 1, max_messages * p, 1);
  for (const std::size_t tag : {0, 1, 8, 40}) {
    sender b(ctx, s, p, tag, max_messages * p, max_messages * p * max_bytes, tag % 8 == 0);
    CHECK_LPF(lpf_sync(ctx, sync_attr));
    CHECK(is_empty(b.object));
    for (std::uint64_t step = 0; step < 12; ++step) {
      const traffic t{hash_of({tag, step}), step % 5 == 4 ? 0 : max_messages, step % 5 == 3 ? 0 : max_bytes};
      b.send_all(t, step % 2 == 0);
      CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
      b.check_all(t, step % 3 == 2 ? 1 : ~std::size_t{0});  // unread messages are discarded
    }
    b.end();
    CHECK_LPF(lpf_sync(ctx, sync_attr));
  }
}

// One process sends many messages to another, which receives more than its object could send.
void uneven(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  const std::size_t many = 500;
  resize(ctx, p, 1, many, 1);
  sender b(ctx, s, p, 4, many, many * 8, false);
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  const std::size_t count = s == 0 ? many : 3;
  for (std::size_t i = 0; i < count; ++i) b.send(p - 1, hash_of({s, i}), i % 9);
  CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
  if (s == p - 1)
    for (lpf_pid_t from = 0; from < p; ++from)
      for (std::size_t i = 0; i < (from == 0 ? many : 3); ++i) b.check_one(hash_of({from, i}), i % 9);
  CHECK(is_empty(b.object));
  CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
  CHECK(is_empty(b.object));
  b.end();
}

// Each process sends long messages to all, so that each receives more than buffer_size.
void long_messages(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  const std::size_t bytes = 1 << 16;
  resize(ctx, p, 1, 2, 1);
  sender b(ctx, s, p, 3, 2, 2 * bytes, true);
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  for (int step = 0; step < 2; ++step) {
    b.used = 0;
    b.send(0, s, bytes - s);
    b.send(p / 2, s + 1000, bytes);
    CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
    for (lpf_pid_t from = 0; from < p; ++from) {
      if (s == 0) b.check_one(from, bytes - from);
      if (s == p / 2) b.check_one(from + 1000, bytes);
    }
    CHECK(is_empty(b.object));
  }
  b.end();
}

// Puts and gets of the program also complete, and tag and payload are read in the sync.
void beside_puts(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 1, 1, 3, 4);
  std::uint64_t mine = 0, from_left = 0, from_right = 0;
  lpf_memslot_t mine_slot, left_slot, right_slot;
  CHECK_LPF(lpf_register_global(ctx, &mine, sizeof mine, &mine_slot));
  CHECK_LPF(lpf_register_global(ctx, &from_left, sizeof from_left, &left_slot));
  CHECK_LPF(lpf_register_local(ctx, &from_right, sizeof from_right, &right_slot));
  lpf_bsmp_t b;
  CHECK_LPF(lpf_bsmp_create(ctx, s, p, sizeof mine, sizeof mine, 1, &b));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  CHECK_LPF(lpf_put(ctx, mine_slot, 0, (s + 1) % p, left_slot, 0, sizeof mine, LPF_MSG_DEFAULT));
  CHECK_LPF(lpf_get(ctx, (s + 1) % p, mine_slot, 0, right_slot, 0, sizeof mine, LPF_MSG_DEFAULT));
  CHECK_LPF(lpf_send(b, (s + 1) % p, mine_slot, 0, mine_slot, 0, sizeof mine));
  mine = 100 + s;
  CHECK_LPF(lpf_bsmp_sync(b, sync_attr));
  CHECK(from_left == 100 + (s + p - 1) % p);
  CHECK(from_right == 100 + (s + 1) % p);
  void *tag, *payload;
  std::size_t size;
  CHECK_LPF(lpf_move(b, &tag, &payload, &size));
  CHECK(size == sizeof mine && std::memcmp(tag, &from_left, size) == 0 &&
        std::memcmp(payload, &from_left, size) == 0);
  CHECK_LPF(lpf_move(b, nullptr, nullptr, nullptr));
  CHECK(is_empty(b));
  CHECK_LPF(lpf_bsmp_destroy(&b));
}

void several_objects(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 3, 3 * p, 3);
  std::vector<sender> all;
  for (const std::size_t tag : {0, 5, 16}) all.emplace_back(ctx, s, p, tag, 3 * p, 3 * p * 30, false);
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  lpf_bsmp_t objects[3] = {all[2].object, all[0].object, all[1].object};
  for (std::uint64_t step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < 3; ++i)
      all[i].send_all({hash_of({step, i}), i == step % 3 ? 0u : 3u, 30}, i == 1);
    CHECK_LPF(lpf_bsmp_syncall(objects, 3, sync_attr));
    for (std::size_t i = 0; i < 3; ++i) all[i].check_all({hash_of({step, i}), i == step % 3 ? 0u : 3u, 30});
  }
  CHECK_LPF(lpf_bsmp_syncall(nullptr, 0, sync_attr));
  lpf_bsmp_t twice[2] = {objects[0], objects[0]};
  CHECK(lpf_bsmp_syncall(twice, 2, sync_attr) == LPF_ERR_BSMP_INVAL);
  lpf_bsmp_t holed[2] = {objects[0], LPF_INVALID_BSMP};
  CHECK(lpf_bsmp_syncall(holed, 2, sync_attr) == LPF_ERR_BSMP_INVAL);
  CHECK(lpf_bsmp_syncall(nullptr, 1, sync_attr) == LPF_ERR_BSMP_INVAL);
  CHECK_LPF(lpf_bsmp_syncall(objects, 1, sync_attr));
  for (sender& one : all) one.end();
}

// A message that does not fit is rejected, and earlier messages arrive.
void full(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 2, 3, 1);
  sender b(ctx, s, p, 2, 3, 20, false);
  lpf_bsmp_t none;
  CHECK_LPF(lpf_bsmp_create(ctx, s, p, 0, 0, 0, &none));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  CHECK(lpf_send(none, 0, LPF_INVALID_MEMSLOT, 0, LPF_INVALID_MEMSLOT, 0, 0) == LPF_ERR_BSMP_FULL);
  CHECK_LPF(lpf_bsmp_sync(none, sync_attr));
  for (int step = 0; step < 2; ++step) {
    b.used = 0;
    b.send(s, 1, 15);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, 6) == LPF_ERR_BSMP_FULL);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, SIZE_MAX) == LPF_ERR_BSMP_FULL);
    b.send(s, 2, 5);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, 1) == LPF_ERR_BSMP_FULL);
    b.send(s, 3, 0);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, 0) == LPF_ERR_BSMP_FULL);
    CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
    b.check_one(1, 15);
    b.check_one(2, 5);
    b.check_one(3, 0);
    CHECK(is_empty(b.object));
  }
  b.end();
  CHECK_LPF(lpf_bsmp_destroy(&none));
}

void wrong_arguments(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 1, 1);
  CHECK(lpf_bsmp_create(ctx, s, p, 1, 1, 1, nullptr) == LPF_ERR_BSMP_INVAL);
  lpf_bsmp_t b = LPF_INVALID_BSMP;
  CHECK(lpf_bsmp_create(ctx, p, p, 1, 1, 1, &b) == LPF_ERR_BSMP_INVAL && b == LPF_INVALID_BSMP);
  CHECK(lpf_bsmp_create(LPF_ROOT, s, p, 1, 1, 1, &b) == LPF_ERR_FATAL && b == LPF_INVALID_BSMP);
  for (const std::size_t much : {SIZE_MAX, SIZE_MAX / 2 + 1}) {
    CHECK(lpf_bsmp_create(ctx, s, p, much, 1, 1, &b) == LPF_ERR_OUT_OF_MEMORY && b == LPF_INVALID_BSMP);
    CHECK(lpf_bsmp_create(ctx, s, p, 1, much, 1, &b) == LPF_ERR_OUT_OF_MEMORY && b == LPF_INVALID_BSMP);
    CHECK(lpf_bsmp_create(ctx, s, p, 1, 1, much, &b) == LPF_ERR_OUT_OF_MEMORY && b == LPF_INVALID_BSMP);
  }
  CHECK(lpf_bsmp_destroy(nullptr) == LPF_ERR_BSMP_INVAL);
  CHECK(lpf_bsmp_destroy(&b) == LPF_ERR_BSMP_INVAL);
  CHECK(lpf_bsmp_sync(b, sync_attr) == LPF_ERR_BSMP_INVAL);
  CHECK(lpf_move(b, nullptr, nullptr, nullptr) == LPF_ERR_BSMP_INVAL);
  CHECK(lpf_send(b, 0, LPF_INVALID_MEMSLOT, 0, LPF_INVALID_MEMSLOT, 0, 0) == LPF_ERR_BSMP_INVAL);
  CHECK_LPF(lpf_bsmp_create(ctx, s, p, 1, 0, 1, &b));
  lpf_bsmp_t second = LPF_INVALID_BSMP;
  // The register is full.
  CHECK(lpf_bsmp_create(ctx, s, p, 1, 0, 1, &second) == LPF_ERR_OUT_OF_MEMORY);
  CHECK(second == LPF_INVALID_BSMP);
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  CHECK(lpf_send(b, p, LPF_INVALID_MEMSLOT, 0, LPF_INVALID_MEMSLOT, 0, 0) == LPF_ERR_BSMP_INVAL);
  CHECK_LPF(lpf_send(b, s, LPF_INVALID_MEMSLOT, 0, LPF_INVALID_MEMSLOT, 0, 0));
  CHECK(lpf_bsmp_destroy(&b) == LPF_ERR_BSMP_INVAL && b != LPF_INVALID_BSMP);  // not delivered
  CHECK_LPF(lpf_bsmp_sync(b, sync_attr));
  CHECK(!is_empty(b));
  CHECK_LPF(lpf_bsmp_destroy(&b));
}

// The context's queue is too short: sends are rejected, and everything else continues.
void short_queue(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  // Checked mode reports it, because messages count at their target too.
  const char* const mode = std::getenv("TUTTI_CHECK");
  if (mode != nullptr && *mode == '1') return;
  CHECK_LPF(lpf_resize_memory_register(ctx, 3));
  CHECK_LPF(lpf_resize_message_queue(ctx, 3));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  sender b(ctx, s, p, 4, 5, 50, false);
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  for (int step = 0; step < 2; ++step) {
    b.used = 0;
    b.send(s, 1, 9);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, 5) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(lpf_send(b.object, s, b.slot, 0, b.slot, 0, 0) == LPF_ERR_OUT_OF_MEMORY);
    // The queue has no entry for the descriptor that the receiver needs.
    CHECK(lpf_bsmp_sync(b.object, sync_attr) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(is_empty(b.object));
  }
  b.used = 0;
  b.send(s, 2, 0);
  CHECK_LPF(lpf_bsmp_sync(b.object, sync_attr));
  b.check_one(2, 0);
  b.end();
}

void wrong_slot(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 1, 1);
  lpf_bsmp_t b;
  CHECK_LPF(lpf_bsmp_create(ctx, s, p, 10, 0, 1, &b));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  if (s == p - 1) CHECK(lpf_send(b, 0, LPF_INVALID_MEMSLOT, 0, LPF_INVALID_MEMSLOT, 0, 10) == LPF_ERR_FATAL);
  CHECK(lpf_bsmp_sync(b, sync_attr) == LPF_ERR_FATAL);
  CHECK(lpf_bsmp_destroy(&b) == LPF_ERR_FATAL && b == LPF_INVALID_BSMP);
}

void somebody_leaves(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  resize(ctx, p, 1, 1);
  lpf_bsmp_t b;
  CHECK_LPF(lpf_bsmp_create(ctx, s, p, 10, 0, 1, &b));
  CHECK_LPF(lpf_sync(ctx, sync_attr));
  if (p > 1 && s == p - 1) return static_cast<void>(lpf_bsmp_destroy(&b));
  CHECK(lpf_bsmp_sync(b, sync_attr) == (p > 1 ? LPF_ERR_FATAL : LPF_SUCCESS));
  lpf_bsmp_destroy(&b);
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv,
                       {{"random_traffic", &random_traffic},
                        {"uneven", &uneven},
                        {"long_messages", &long_messages},
                        {"beside_puts", &beside_puts},
                        {"several_objects", &several_objects},
                        {"full", &full},
                        {"wrong_arguments", &wrong_arguments},
                        {"short_queue", &short_queue},
                        {"wrong_slot", &wrong_slot, true}});
  if (code != 0 || argc < 2) return code;
  return run(argc, argv, {{"somebody_leaves", &somebody_leaves}});
}
