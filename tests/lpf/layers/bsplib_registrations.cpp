// SPDX-License-Identifier: Apache-2.0
//
// Tests BSPlib's registrations: when they take effect, and which one an address refers to.
#include <algorithm>

#include "bsplib.hpp"

using namespace layers;

namespace {

// Puts the own number + `mark` to the right process, and checks what the left one has put.
void check_put(bsp_program& on, void* name, unsigned& seen, unsigned mark, std::size_t offset = 0) {
  const lpf_pid_t s = bsplib_pid(on.b), p = bsplib_nprocs(on.b);
  const unsigned value = s + mark;
  seen = ~0u;
  CHECK_BSPLIB(bsplib_put(on.b, (s + 1) % p, &value, name, offset, sizeof value));
  on.sync();
  CHECK(seen == (s + p - 1) % p + mark);
}

bsplib_err_t try_put(bsp_program& on, void* name, std::size_t offset = 0) {
  char value = 1;
  return bsplib_put(on.b, (bsplib_pid(on.b) + 1) % bsplib_nprocs(on.b), &value, name, offset, 1);
}

void effect_at_the_sync(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    unsigned x = 0;
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
    CHECK(try_put(on, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    on.sync();
    check_put(on, &x, x, 10);
    CHECK_BSPLIB(bsplib_pop_reg(on.b, &x));
    check_put(on, &x, x, 20);  // the registration ends after this superstep
    CHECK(try_put(on, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    CHECK(bsplib_pop_reg(on.b, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    // In one superstep they cancel out, or replace each other.
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
    CHECK_BSPLIB(bsplib_pop_reg(on.b, &x));
    CHECK(bsplib_pop_reg(on.b, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    on.sync();
    CHECK(try_put(on, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, 1));
    on.sync();
    CHECK_BSPLIB(bsplib_pop_reg(on.b, &x));
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
    on.sync();
    check_put(on, &x, x, 30);
    CHECK_BSPLIB(bsplib_pop_reg(on.b, &x));
    CHECK(bsplib_pop_reg(on.b, &x) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    on.sync();
  }
}

// Registers one address many times, with sizes that grow and shrink, differently on each process.
void sizes_on_a_stack(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  std::vector<char> x(1000);
  const auto size = [](std::size_t i, lpf_pid_t q) { return std::size_t((i * 37) % 50 + q); };
  const std::size_t n = 40;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), size(i, s)));
    if (i % 7 == 0) on.sync();
  }
  on.sync();
  for (std::size_t i = n; i-- > 0;) {
    const std::size_t bytes = size(i, (s + 1) % p);
    CHECK(try_put(on, x.data(), bytes) == BSPLIB_ERR_MEMORY_ACCESS_OUT_OF_RANGE);
    if (bytes > 0) CHECK_BSPLIB(try_put(on, x.data(), bytes - 1));
    CHECK_BSPLIB(bsplib_pop_reg(on.b, x.data()));
    on.sync();
    if (size(i, s) > 0) CHECK(x[size(i, s) - 1] == 1);
  }
  CHECK(try_put(on, x.data()) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
}

// An address that is the same on some processes and not on others refers to the last registration.
void last_one_wins(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  unsigned a = ~0u, b = ~0u;
  CHECK_BSPLIB(bsplib_push_reg(on.b, &a, sizeof a));
  CHECK_BSPLIB(bsplib_push_reg(on.b, s == 0 ? &a : &b, sizeof a));
  on.sync();
  const unsigned value = 5;
  if (s == 0)
    for (lpf_pid_t q = 1; q < p; ++q) CHECK_BSPLIB(bsplib_put(on.b, q, &value, &a, 0, sizeof value));
  on.sync();
  CHECK(a == ~0u && (s == 0 || b == 5));
  CHECK_BSPLIB(bsplib_pop_reg(on.b, s == 0 ? &a : &b));
  on.sync();
  if (s == 0)
    for (lpf_pid_t q = 1; q < p; ++q) CHECK_BSPLIB(bsplib_put(on.b, q, &value, &a, 0, sizeof value));
  on.sync();
  CHECK(s == 0 || a == 5);
}

// A process cannot use a registration as null, and no process accesses memory of a process that
// registered null.
void null(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  std::vector<unsigned> x(s == 0 ? p : 0, ~0u);
  CHECK_BSPLIB(bsplib_push_reg(on.b, s == 0 ? x.data() : nullptr, s == 0 ? p * sizeof(unsigned) : 0));
  on.sync();
  const unsigned value = 7;
  CHECK(bsplib_put(on.b, 0, &value, s == 0 ? x.data() : nullptr, 0, sizeof value) ==
        (s == 0 ? BSPLIB_SUCCESS : BSPLIB_ERR_NULL_POINTER));
  on.sync();
  CHECK(s != 0 || x[0] == 7);
  if (p > 1) {
    CHECK(bsplib_put(on.b, p - 1, &s, s == 0 ? x.data() : nullptr, 0, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_get(on.b, p - 1, s == 0 ? x.data() : nullptr, 0, &s, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK_BSPLIB(bsplib_put(on.b, p - 1, &s, s == 0 ? x.data() : nullptr, 0, 0));
  }
  CHECK(bsplib_push_reg(on.b, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
  CHECK_BSPLIB(bsplib_pop_reg(on.b, s == 0 ? x.data() : nullptr));
  on.sync();
  CHECK(try_put(on, nullptr) == BSPLIB_ERR_NULL_POINTER);
}

void many(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe, 100);
    const std::size_t n = 500;
    std::vector<unsigned> x(n, ~0u);
    for (std::size_t i = 0; i < n; ++i) CHECK_BSPLIB(bsplib_push_reg(on.b, &x[i], sizeof(unsigned)));
    on.sync();
    std::vector<unsigned> values(n);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = static_cast<unsigned>(i * 100 + s);
      CHECK_BSPLIB((i % 2 == 0 ? bsplib_hpput : bsplib_put)(on.b, (s + 1) % p, &values[i], &x[i], 0,
                                                            sizeof(unsigned)));
      if (i % 3 == 0) CHECK_BSPLIB(bsplib_pop_reg(on.b, &x[i]));
    }
    on.sync();
    for (std::size_t i = 0; i < n; ++i) CHECK(x[i] == i * 100 + (s + p - 1) % p);
    for (std::size_t i = 0; i < n; ++i)
      CHECK(try_put(on, &x[i]) == (i % 3 == 0 ? BSPLIB_ERR_MEMORY_NOT_REGISTERED : BSPLIB_SUCCESS));
    on.sync();
  }
}

// Random registrations of four variables, which each process has in another order, compared with
// stacks in the model.
struct entry {
  std::size_t variable;  // the same number is another address on each process
  bool pushed, popped;
};

std::size_t index_on(lpf_pid_t q, std::size_t variable) { return (variable + q) % 4; }

void drawn_registrations(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    unsigned x[4];
    std::vector<entry> all;
    for (std::uint64_t step = 0; step < 40; ++step) {
      std::fill(x, x + 4, ~0u);
      for (std::size_t variable = 0; variable < 4; ++variable) {
        const bool registered =
            std::any_of(all.begin(), all.end(), [&](const entry& e) { return e.variable == variable; });
        const unsigned value = s * 10 + static_cast<unsigned>(variable);
        CHECK(bsplib_put(on.b, (s + 1) % p, &value, &x[index_on(s, variable)], 0, sizeof value) ==
              (registered ? BSPLIB_SUCCESS : BSPLIB_ERR_MEMORY_NOT_REGISTERED));
      }
      std::vector<entry> now = all;
      for (std::size_t i = 0; i < hash_of({step}) % 6; ++i) {
        const std::size_t variable = hash_of({step, i, 1}) % 4;
        void* const name = &x[index_on(s, variable)];
        if (hash_of({step, i, 2}) % 2 == 0) {
          CHECK_BSPLIB(bsplib_push_reg(on.b, name, sizeof(unsigned)));
          now.push_back({variable, true, false});
          continue;
        }
        const auto last = std::find_if(now.rbegin(), now.rend(),
                                       [&](const entry& e) { return e.variable == variable && !e.popped; });
        CHECK(bsplib_pop_reg(on.b, name) ==
              (last != now.rend() ? BSPLIB_SUCCESS : BSPLIB_ERR_MEMORY_NOT_REGISTERED));
        if (last != now.rend()) last->popped = true;
      }
      on.sync();
      const lpf_pid_t left = (s + p - 1) % p;
      for (std::size_t variable = 0; variable < 4; ++variable) {
        const bool registered =
            std::any_of(all.begin(), all.end(), [&](const entry& e) { return e.variable == variable; });
        CHECK(x[index_on(s, variable)] == (registered ? left * 10 + static_cast<unsigned>(variable) : ~0u));
      }
      all.clear();
      for (entry e : now)
        if (!e.popped) all.push_back({e.variable, false, false});
    }
  }
}

// Several objects in one context, one after the other. Each ends with registrations of addresses in
// another order on each process.
void repeated_registrations(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  std::vector<unsigned> x(30);
  for (int i = 0; i < 10; ++i) {
    bsp_program on(ctx, s, p, args, i % 2);
    const auto address_of = [&](std::size_t k) { return &x[(k * 7 + s * 11) % x.size()]; };
    CHECK(try_put(on, address_of(0)) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    for (std::size_t k = 0; k < x.size(); ++k)
      CHECK_BSPLIB(bsplib_push_reg(on.b, address_of(k), sizeof(unsigned)));
    on.sync();
    for (std::size_t k = 0; k < x.size(); ++k) {
      const unsigned value = static_cast<unsigned>(k + 100 * s);
      CHECK_BSPLIB(bsplib_put(on.b, (s + 1) % p, &value, address_of(k), 0, sizeof value));
    }
    on.sync();
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(*address_of(k) == k + 100 * ((s + p - 1) % p));
    std::fill(x.begin(), x.end(), 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"effect_at_the_sync", &effect_at_the_sync},
              {"sizes_on_a_stack", &sizes_on_a_stack},
              {"last_one_wins", &last_one_wins},
              {"null", &null},
              {"many", &many},
              {"drawn_registrations", &drawn_registrations},
              {"repeated_registrations", &repeated_registrations}});
}
