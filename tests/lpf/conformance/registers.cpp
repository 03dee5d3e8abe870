// SPDX-License-Identifier: Apache-2.0
//
// Tests registers and queues: their capacity and when it takes effect, slots, and supersteps with
// little work.
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "suite.hpp"

namespace {

using suite::dice;
using suite::guarded;
using suite::process;

constexpr std::size_t max_size = std::numeric_limits<std::size_t>::max();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_exhaust_memory = false;  // sanitizers end the program if memory runs out
#else
constexpr bool can_exhaust_memory = true;
#endif
using word = std::uint64_t;

lpf_err_t put_word(const process& me, lpf_memslot_t from, std::size_t i, unsigned to, lpf_memslot_t into,
                   std::size_t k) {
  return lpf_put(me.ctx, from, 8 * i, to, into, 8 * k, 8, LPF_MSG_DEFAULT);
}

// Returns the number of slots that can be registered now. The register is unchanged afterwards.
std::size_t free_entries(const process& me) {
  std::vector<lpf_memslot_t> made;
  word w = 0;
  for (;;) {
    lpf_memslot_t s = LPF_INVALID_MEMSLOT;
    const lpf_err_t end = lpf_register_local(me.ctx, &w, sizeof w, &s);
    if (end != LPF_SUCCESS) {
      me.returns(end, LPF_ERR_OUT_OF_MEMORY, "lpf_register_local beyond the capacity");
      break;
    }
    made.push_back(s);
    if (made.size() > 10000) break;
  }
  for (const lpf_memslot_t s : made) me.needs(lpf_deregister(me.ctx, s), "lpf_deregister");
  return made.size();
}

void initial_capacities(const process& me) {
  if (suite::in_checked_mode()) return;
  word w[4] = {};
  lpf_memslot_t s = LPF_INVALID_MEMSLOT, g = LPF_INVALID_MEMSLOT;
  me.returns(lpf_register_global(me.ctx, w, sizeof w, &s), LPF_ERR_OUT_OF_MEMORY,
             "the first register_global");
  me.returns(lpf_register_local(me.ctx, w, sizeof w, &s), LPF_ERR_OUT_OF_MEMORY, "the first register_local");
  me.needs(lpf_resize_memory_register(me.ctx, 2), "lpf_resize_memory_register");
  me.returns(lpf_register_global(me.ctx, w, sizeof w, &s), LPF_ERR_OUT_OF_MEMORY,
             "register_global before the sync after a resize");
  me.sync();
  me.needs(lpf_register_local(me.ctx, w, sizeof w, &s), "lpf_register_local");
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &g), "lpf_register_global");
  lpf_memslot_t third;
  me.returns(lpf_register_global(me.ctx, w, sizeof w, &third), LPF_ERR_OUT_OF_MEMORY,
             "the third register_global");
  me.returns(lpf_register_local(me.ctx, w, sizeof w, &third), LPF_ERR_OUT_OF_MEMORY,
             "the third register_local");
  me.sync();
  me.returns(put_word(me, s, 0, me.pid, g, 1), LPF_ERR_OUT_OF_MEMORY, "the first put");
  me.returns(lpf_get(me.ctx, me.pid, g, 0, s, 8, 8, LPF_MSG_DEFAULT), LPF_ERR_OUT_OF_MEMORY, "the first get");
  me.needs(lpf_resize_message_queue(me.ctx, 2), "lpf_resize_message_queue");
  me.returns(put_word(me, s, 0, me.pid, g, 1), LPF_ERR_OUT_OF_MEMORY, "put before the sync after a resize");
  me.sync();
  w[0] = 7;
  me.needs(put_word(me, s, 0, me.pid, g, 1), "lpf_put");
  me.needs(put_word(me, s, 0, me.pid, g, 2), "lpf_put");
  me.returns(put_word(me, s, 0, me.pid, g, 3), LPF_ERR_OUT_OF_MEMORY, "put beyond the queue");
  me.returns(lpf_get(me.ctx, me.pid, g, 0, s, 24, 8, LPF_MSG_DEFAULT), LPF_ERR_OUT_OF_MEMORY,
             "get beyond the queue");
  me.sync();
  me.check(w[1] == 7 && w[2] == 7 && w[3] == 0, "two of three puts arrive");
  me.sync();
  me.check(w[3] == 0, "a rejected put is not delivered later");
}

void impossible_capacities(const process& me) {
  if (!can_exhaust_memory || suite::in_checked_mode()) return;
  word w[2] = {me.pid, 0};
  lpf_memslot_t g;
  for (std::size_t part = 1; part <= 64; part *= 2) {
    const std::string of = "(SIZE_MAX / " + std::to_string(part) + ")";
    me.returns(lpf_resize_memory_register(me.ctx, max_size / part), LPF_ERR_OUT_OF_MEMORY,
               "resize_memory_register" + of);
    me.returns(lpf_resize_message_queue(me.ctx, max_size / part), LPF_ERR_OUT_OF_MEMORY,
               "resize_message_queue" + of);
  }
  me.sync();
  me.check(free_entries(me) == 0, "a register that could not grow has free entries");
  me.resize(3, me.p + 1);
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &g), "lpf_register_global");
  me.needs(lpf_resize_memory_register(me.ctx, 5), "lpf_resize_memory_register");
  me.needs(lpf_resize_message_queue(me.ctx, me.p + 2), "lpf_resize_message_queue");
  me.returns(lpf_resize_memory_register(me.ctx, max_size), LPF_ERR_OUT_OF_MEMORY,
             "resize_memory_register(SIZE_MAX)");
  me.returns(lpf_resize_message_queue(me.ctx, max_size / 8), LPF_ERR_OUT_OF_MEMORY,
             "resize_message_queue(SIZE_MAX/8)");
  me.check(free_entries(me) == 2, "the capacity of the register has changed");
  me.sync();
  me.check(free_entries(me) == 4, "a successful resize is undone by one that failed");
  for (unsigned k = 0; k < me.p + 2; ++k)
    me.needs(put_word(me, g, 0, (me.pid + 1) % me.p, g, 1), "put after a resize that failed");
  me.returns(put_word(me, g, 0, me.pid, g, 1), LPF_ERR_OUT_OF_MEMORY, "put beyond the queue");
  me.sync();
  me.check(w[1] == (me.pid + me.p - 1) % me.p, "the puts arrive");
}

// If memory runs out in the middle of a resize, the resize has no effect. Runs alone, because the
// limit applies to the whole process.
void resize_runs_out_of_memory(const process& me) {
  if (!can_exhaust_memory) return;
  std::size_t pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%zu", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  if (pages == 0) return;
  word w[2] = {};
  lpf_memslot_t g;
  me.resize(1, 3);
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &g), "lpf_register_global");
  me.sync();
  rlimit before, now;
  getrlimit(RLIMIT_AS, &before);
  for (const double part : {0.5, 1.5, 2.5}) {
    constexpr double queue_bytes = 256 << 20;
    now = before;
    now.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) +
                   static_cast<std::size_t>(part * queue_bytes);
    if (setrlimit(RLIMIT_AS, &now) != 0) return;
    const lpf_err_t end = lpf_resize_message_queue(me.ctx, (256 << 20) / 64);
    setrlimit(RLIMIT_AS, &before);
    if (end == LPF_SUCCESS) return;
    me.returns(end, LPF_ERR_OUT_OF_MEMORY, "lpf_resize_message_queue");
    for (int step = 0; step < 4; ++step) {
      for (int k = 0; k < 3; ++k) me.needs(put_word(me, g, 0, 0, g, 1), "lpf_put");
      me.returns(put_word(me, g, 0, 0, g, 1), LPF_ERR_OUT_OF_MEMORY, "put beyond a queue that did not grow");
      me.sync();
    }
  }
}

void shrinking(const process& me) {
  if (suite::in_checked_mode()) return;
  word w[8] = {1, 2, 3};
  lpf_memslot_t s[4], more;
  me.resize(4, 3);
  for (int k = 0; k < 3; ++k)
    me.needs(lpf_register_global(me.ctx, w, sizeof w, &s[k]), "lpf_register_global");
  me.sync();
  me.needs(put_word(me, s[0], 0, me.pid, s[0], 4), "lpf_put");
  me.needs(lpf_resize_memory_register(me.ctx, 1), "shrinking the register below what is used");
  me.needs(lpf_resize_message_queue(me.ctx, 1), "shrinking the queue below what is scheduled");
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &s[3]), "register before the sync after shrinking");
  me.needs(put_word(me, s[0], 1, me.pid, s[1], 5), "put before the sync after shrinking");
  me.needs(put_word(me, s[0], 2, me.pid, s[2], 6), "put before the sync after shrinking");
  me.returns(put_word(me, s[0], 2, me.pid, s[2], 7), LPF_ERR_OUT_OF_MEMORY, "put beyond the old capacity");
  me.sync();
  me.check(w[4] == 1 && w[5] == 2 && w[6] == 3 && w[7] == 0, "what was scheduled before shrinking arrives");
  me.returns(lpf_register_local(me.ctx, w, 8, &more), LPF_ERR_OUT_OF_MEMORY,
             "register beyond the new capacity");
  me.needs(put_word(me, s[3], 0, me.pid, s[3], 7), "lpf_put");
  me.returns(put_word(me, s[0], 2, me.pid, s[2], 7), LPF_ERR_OUT_OF_MEMORY, "put beyond the new capacity");
  me.needs(lpf_resize_message_queue(me.ctx, 0), "shrinking to nothing");
  me.sync();
  me.check(w[7] == 1, "a slot above the new capacity is still valid");
  for (int k = 0; k < 4; ++k) {
    me.returns(lpf_register_local(me.ctx, w, 8, &more), LPF_ERR_OUT_OF_MEMORY,
               "register while there are too many");
    me.needs(lpf_deregister(me.ctx, s[k]), "lpf_deregister");
  }
  me.check(free_entries(me) == 1, "the register does not have the reduced capacity");
  me.sync();
  me.check(free_entries(me) == 1, "the register does not have the reduced capacity after a sync");
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &s[0]), "lpf_register_global");
  me.sync();
  me.returns(put_word(me, s[0], 0, me.pid, s[0], 7), LPF_ERR_OUT_OF_MEMORY, "put with a queue of 0");
}

// Any sequence of resizes has the effect of the last one, from the sync on.
void random_resizes(const process& me) {
  if (suite::in_checked_mode()) return;
  dice d(3);
  suite::bytes memory(64);
  lpf_memslot_t g = LPF_INVALID_MEMSLOT;
  me.resize(1, 1);
  me.needs(lpf_register_global(me.ctx, memory.data(), memory.size(), &g), "lpf_register_global");
  me.sync();
  std::size_t slots = 1, messages = 1, used = 0;
  const int steps = me.p > 16 ? 20 : 60 / static_cast<int>(suite::thinning());
  for (int step = 0; step < steps; ++step) {
    std::size_t slots_next = slots, messages_next = messages;
    const auto fill = [&](std::size_t count) {
      for (std::size_t k = 0; k < count; ++k)
        me.returns(lpf_put(me.ctx, g, 0, (me.pid + 1) % me.p, g, 32, d.below(9), LPF_MSG_DEFAULT),
                   used < messages ? LPF_SUCCESS : LPF_ERR_OUT_OF_MEMORY, "put " + std::to_string(used)),
            used += used < messages ? 1 : 0;
    };
    used = 0;
    fill(d.below(messages + 2));
    for (std::size_t k = d.below(4); k > 0; --k) {
      slots_next = 1 + d.below(d.below(3) == 0 ? 300 : 6);
      messages_next = d.below(d.below(3) == 0 ? 300 : 6);
      me.needs(lpf_resize_memory_register(me.ctx, slots_next), "lpf_resize_memory_register");
      me.needs(lpf_resize_message_queue(me.ctx, messages_next), "lpf_resize_message_queue");
      if (d.below(3) == 0 && can_exhaust_memory) {
        me.returns(lpf_resize_memory_register(me.ctx, max_size / 8), LPF_ERR_OUT_OF_MEMORY,
                   "resize_memory_register");
        me.returns(lpf_resize_message_queue(me.ctx, max_size / 8), LPF_ERR_OUT_OF_MEMORY,
                   "resize_message_queue");
      }
    }
    fill(messages + 2);
    me.check(used == messages, "a queue of " + std::to_string(messages) + " accepts " + std::to_string(used));
    me.check(free_entries(me) + 1 == slots,
             "the register does not have " + std::to_string(slots) + " entries");
    me.sync();
    slots = slots_next;
    messages = messages_next;
  }
}

// All processes register and deregister global slots in the same order, with different sizes. The
// pointers of empty slots are null. Local slots have any order. Each slot must refer to its area.
void create_and_destroy_slots(const process& me) {
  constexpr std::size_t max_slots = 40;
  const auto size_of = [&](std::size_t key, unsigned pid) { return (key * 7 + pid * 13) % 5 * 8; };
  struct global_slot {
    std::size_t key;
    lpf_memslot_t slot;
    std::vector<word> memory;
  };
  dice same(17), local(100 + me.pid);
  std::vector<global_slot> globals;
  std::vector<lpf_memslot_t> locals;
  std::vector<word> sent(max_slots);
  me.resize(2 * max_slots + 1, 2 * max_slots);
  lpf_memslot_t from;
  me.needs(lpf_register_local(me.ctx, sent.data(), sent.size() * 8, &from), "lpf_register_local");
  std::size_t key = 0;
  const int steps = me.p > 16 ? 15 : 60 / static_cast<int>(suite::thinning());
  for (int step = 0; step < steps; ++step) {
    for (std::size_t k = same.below(8); k > 0 && globals.size() < max_slots; --k, ++key) {
      global_slot& one = globals.emplace_back();
      one.key = key;
      one.memory.assign(size_of(key, me.pid) / 8, 0);
      me.needs(lpf_register_global(me.ctx, one.memory.empty() ? nullptr : one.memory.data(),
                                   one.memory.size() * 8, &one.slot),
               "lpf_register_global");
      if (local.below(2) == 0 && locals.size() < max_slots) {
        lpf_memslot_t s;
        me.needs(lpf_register_local(me.ctx, sent.data(), 8, &s), "lpf_register_local");
        locals.push_back(s);
      }
    }
    for (std::size_t k = same.below(8); k > 0 && !globals.empty(); --k) {
      const std::size_t i = same.below(globals.size());
      me.needs(lpf_deregister(me.ctx, globals[i].slot), "lpf_deregister");
      globals.erase(globals.begin() + static_cast<std::ptrdiff_t>(i));
      if (local.below(2) == 0 && !locals.empty()) {
        me.needs(lpf_deregister(me.ctx, locals.back()), "lpf_deregister");
        locals.pop_back();
      }
    }
    me.sync();
    for (std::size_t a = 0; a < globals.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        me.check(globals[a].slot != globals[b].slot, "two areas have one slot");
    // Puts into the last word of each area of the neighbor, and puts an empty message at its end.
    const unsigned to = (me.pid + 1) % me.p, by = (me.pid + me.p - 1) % me.p;
    for (std::size_t i = 0; i < globals.size(); ++i) {
      const std::size_t size = size_of(globals[i].key, to);
      sent[i] = globals[i].key * 1000 + me.pid + 1;
      if (size > 0) me.needs(put_word(me, from, i, to, globals[i].slot, size / 8 - 1), "lpf_put");
      me.needs(lpf_put(me.ctx, from, 0, to, globals[i].slot, size, 0, LPF_MSG_DEFAULT), "lpf_put of nothing");
    }
    me.sync();
    for (const global_slot& one : globals)
      if (!one.memory.empty())
        me.check(one.memory.back() == one.key * 1000 + by + 1,
                 "slot " + std::to_string(one.slot) + " has " + std::to_string(one.memory.back()));
  }
}

void local_slots_as_local_side(const process& me) {
  word w[3] = {10 + me.pid, 0, 0}, remote = 20 + me.pid;
  lpf_memslot_t g, l;
  me.resize(2, 4);
  me.needs(lpf_register_global(me.ctx, &remote, 8, &g), "lpf_register_global");
  me.sync();
  me.needs(lpf_register_local(me.ctx, w, sizeof w, &l), "lpf_register_local");
  const unsigned next = (me.pid + 1) % me.p;
  me.needs(lpf_get(me.ctx, next, g, 0, l, 8, 8, LPF_MSG_DEFAULT), "get into a slot of this superstep");
  me.sync();
  me.needs(put_word(me, l, 0, next, g, 0), "lpf_put");
  me.sync();
  me.check(w[1] == 20 + next, "what was got into a local slot");
  me.check(remote == 10 + (me.pid + me.p - 1) % me.p, "what was put from a local slot");
  me.needs(lpf_deregister(me.ctx, l), "lpf_deregister");
  word other[2] = {};
  me.needs(lpf_register_local(me.ctx, other, sizeof other, &l), "lpf_register_local");
  me.needs(lpf_get(me.ctx, next, g, 0, l, 8, 8, LPF_MSG_DEFAULT), "get into a slot whose number is reused");
  me.sync();
  me.check(other[1] == 10 + me.pid && w[2] == 0, "a reused slot number refers to the new memory");
}

void empty_supersteps(const process& me) {
  const int steps = me.p > 16 ? 50 : 1000 / static_cast<int>(suite::thinning() * suite::thinning());
  for (int k = 0; k < steps; ++k) me.sync();
}

// In each superstep another process is late. A put of one superstep is invisible in another, and
// its source may be changed after the sync.
void ahead_and_behind(const process& me) {
  std::vector<word> received_words(me.p, 0);
  word sent_words[2] = {};
  lpf_memslot_t g, l;
  me.resize(2, 2 * me.p);
  me.needs(lpf_register_global(me.ctx, received_words.data(), 8 * me.p, &g), "lpf_register_global");
  me.needs(lpf_register_local(me.ctx, sent_words, sizeof sent_words, &l), "lpf_register_local");
  me.sync();
  const unsigned steps = me.p > 16 ? 6 : 40 / suite::thinning();
  for (unsigned k = 1; k <= steps; ++k) {
    sent_words[k % 2] = k * 1000 + me.pid;
    for (unsigned to = 0; to < me.p; ++to) me.needs(put_word(me, l, k % 2, to, g, me.pid), "lpf_put");
    if (me.pid == k % me.p) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    me.sync();
    sent_words[k % 2] = 99;
    for (unsigned from = 0; from < me.p; ++from)
      me.check(received_words[from] == k * 1000 + from, "superstep " + std::to_string(k) + " delivers " +
                                                            std::to_string(received_words[from]) +
                                                            " of process " + std::to_string(from));
    me.sync();
  }
}

void nested_rehook(const process& me) {
  word w[2] = {me.pid, 0};
  lpf_memslot_t g;
  me.resize(1, 4);
  me.needs(lpf_register_global(me.ctx, w, sizeof w, &g), "lpf_register_global");
  me.sync();
  me.needs(put_word(me, g, 0, (me.pid + 1) % me.p, g, 1), "lpf_put");
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &me;
  args.input_size = sizeof me;
  const auto within = [](const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs,
                         const lpf_args_t inner_args) {
    const process& outer = *static_cast<const process*>(inner_args.input);
    outer.check(pid == outer.pid && nprocs == outer.p && ctx != outer.ctx,
                "another process, or the same context");
    try {
      const process inner{ctx, pid, nprocs, outer.test};
      initial_capacities(inner);
    } catch (const suite::case_failed&) {
    }
  };
  me.needs(lpf_rehook(me.ctx, within, args), "lpf_rehook");
  me.sync();
  me.check(w[1] == (me.pid + me.p - 1) % me.p, "a put that was scheduled before a nested section");
}

constexpr suite::entry all[] = {
    {"initial_capacities", initial_capacities},
    {"impossible_capacities", impossible_capacities},
    {"resize_runs_out_of_memory", resize_runs_out_of_memory, 1},
    {"shrinking", shrinking},
    {"random_resizes", random_resizes},
    {"create_and_destroy_slots", create_and_destroy_slots},
    {"local_slots_as_local_side", local_slots_as_local_side},
    {"empty_supersteps", empty_supersteps},
    {"ahead_and_behind", ahead_and_behind},
    {"nested_rehook", nested_rehook},
};

}  // namespace

const std::span<const suite::entry> suite::tests(all);
