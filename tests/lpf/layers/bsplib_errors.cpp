// SPDX-License-Identifier: Apache-2.0
//
// Tests each of BSPlib's errors on every process that should get it. After temporary errors
// everything continues as before.
#include <algorithm>
#include <cstdlib>

#include "bsplib.hpp"

using namespace layers;

namespace {

void null_pointers(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  CHECK(bsplib_create(ctx, s, p, 1, 0, nullptr) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_destroy(nullptr) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_sync(nullptr) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_push_reg(nullptr, &s, 1) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_pop_reg(nullptr, &s) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_put(nullptr, 0, &s, &s, 0, 1) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_qsize(nullptr, nullptr, nullptr) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_hpmove(nullptr, nullptr, nullptr) == SIZE_MAX);
  CHECK(bsplib_time(nullptr) == 0 && bsplib_nprocs(nullptr) == 0 && bsplib_pid(nullptr) == 0);
  CHECK(bsplib_set_tagsize(nullptr, 1) == 0);
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    char x = 0;
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, 1));
    CHECK(bsplib_push_reg(on.b, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
    bsplib_set_tagsize(on.b, 1);
    on.sync();
    CHECK(bsplib_put(on.b, 0, nullptr, &x, 0, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_hpput(on.b, 0, nullptr, &x, 0, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_get(on.b, 0, &x, 0, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_hpget(on.b, 0, &x, 0, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_send(on.b, 0, nullptr, nullptr, 0) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_hpsend(on.b, 0, &x, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_get_tag(on.b, nullptr, &x) == BSPLIB_ERR_NULL_POINTER);
    CHECK_BSPLIB(bsplib_send(on.b, s, &x, &x, 1));
    on.sync();
    std::size_t n = 0;
    CHECK_BSPLIB(bsplib_qsize(on.b, &n, nullptr));
    CHECK(n == 1);  // the rejected message was not sent
    CHECK(bsplib_get_tag(on.b, &n, nullptr) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_move(on.b, nullptr, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK_BSPLIB(bsplib_move(on.b, nullptr, 0));
    CHECK(bsplib_move(on.b, &x, 1) == BSPLIB_ERR_EMPTY_MESSAGE_QUEUE);
  }
}

void out_of_range(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsplib_t none;
  CHECK(bsplib_create(ctx, p, p, 1, 0, &none) == BSPLIB_ERR_PID_OUT_OF_RANGE && none == nullptr);
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    std::vector<char> x(10 + s, 0);
    char y = 0;
    CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), x.size()));
    on.sync();
    for (const lpf_pid_t q : {p, p + 1, ~lpf_pid_t{0}}) {
      CHECK(bsplib_put(on.b, q, &y, x.data(), 0, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
      CHECK(bsplib_hpput(on.b, q, &y, x.data(), 0, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
      CHECK(bsplib_get(on.b, q, x.data(), 0, &y, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
      CHECK(bsplib_hpget(on.b, q, x.data(), 0, &y, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
      CHECK(bsplib_send(on.b, q, nullptr, &y, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
      CHECK(bsplib_hpsend(on.b, q, nullptr, &y, 1) == BSPLIB_ERR_PID_OUT_OF_RANGE);
    }
    // An address inside a registered area, and an unregistered one.
    CHECK(bsplib_put(on.b, 0, &y, x.data() + 1, 0, 1) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    CHECK(bsplib_hpput(on.b, 0, &y, &y, 0, 1) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    CHECK(bsplib_get(on.b, 0, &y, 0, &y, 1) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    CHECK(bsplib_hpget(on.b, 0, nullptr, 0, &y, 1) == BSPLIB_ERR_NULL_POINTER);
    CHECK(bsplib_pop_reg(on.b, &y) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
    for (lpf_pid_t q = 0; safe != 0 && q < p; ++q) {
      const std::size_t size = 10 + q;
      std::vector<char> z(size + 1);
      for (const auto& [offset, bytes] : {std::pair<std::size_t, std::size_t>{size, 1},
                                          {size - 1, 2},
                                          {0, size + 1},
                                          {SIZE_MAX, 2},
                                          {SIZE_MAX - 1, 2}}) {
        const auto beyond = BSPLIB_ERR_MEMORY_ACCESS_OUT_OF_RANGE;
        CHECK(bsplib_put(on.b, q, z.data(), x.data(), offset, bytes) == beyond);
        CHECK(bsplib_hpput(on.b, q, z.data(), x.data(), offset, bytes) == beyond);
        CHECK(bsplib_get(on.b, q, x.data(), offset, z.data(), bytes) == beyond);
        CHECK(bsplib_hpget(on.b, q, x.data(), offset, z.data(), bytes) == beyond);
      }
      if (s == p - 1) {
        y = 7;
        CHECK_BSPLIB(bsplib_put(on.b, q, &y, x.data(), size - 1, 1));
      }
    }
    on.sync();
    CHECK(x.back() == (safe != 0 ? 7 : 0));
    CHECK(std::all_of(x.begin(), x.end() - 1, [](char c) { return c == 0; }));
  }
}

// One process registers more or fewer areas, or ends another registration. Then nothing of the
// superstep takes effect except its puts.
void mismatches(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  unsigned x = ~0u, y = ~0u;
  const auto put = [&](unsigned& to) {
    const unsigned value = s;
    return bsplib_put(on.b, (s + 1) % p, &value, &to, 0, sizeof value);
  };
  const auto arrives = [&](unsigned& at) {
    const bool here = at == (s + p - 1) % p;
    at = ~0u;
    return here;
  };
  const bool odd = s == p - 1;  // the process that differs
  const auto expected = [&](bsplib_err_t e) { return p == 1 ? BSPLIB_SUCCESS : e; };
  CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
  on.sync();
  for (int round = 0; round < 2; ++round) {
    if (odd) CHECK_BSPLIB(bsplib_push_reg(on.b, &y, sizeof y));
    CHECK_BSPLIB(put(x));
    CHECK(bsplib_sync(on.b) == expected(BSPLIB_ERR_PUSHREG_MISMATCH));
    CHECK(arrives(x));
    if (p == 1) CHECK_BSPLIB(bsplib_pop_reg(on.b, &y));
    on.sync();
    CHECK(put(y) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);

    if (odd) CHECK_BSPLIB(bsplib_pop_reg(on.b, &x));
    CHECK_BSPLIB(bsplib_push_reg(on.b, &y, sizeof y));
    CHECK_BSPLIB(put(x));
    CHECK(bsplib_sync(on.b) == expected(BSPLIB_ERR_POPREG_MISMATCH));
    CHECK(arrives(x));
    if (p == 1) {
      CHECK_BSPLIB(bsplib_pop_reg(on.b, &y));
      CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
    }
    on.sync();
    CHECK(put(y) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);

    CHECK_BSPLIB(bsplib_push_reg(on.b, &y, sizeof y));
    on.sync();
    // The same number of ended registrations, but of different ones; and in another order.
    CHECK_BSPLIB(bsplib_pop_reg(on.b, odd ? &x : &y));
    CHECK(bsplib_sync(on.b) == expected(BSPLIB_ERR_POPREG_MISMATCH));
    if (p == 1) CHECK_BSPLIB(bsplib_push_reg(on.b, &x, sizeof x));
    on.sync();
    CHECK_BSPLIB(put(x));
    CHECK_BSPLIB(put(y));
    on.sync();
    CHECK(arrives(x) && arrives(y));
    if (p > 1) {
      CHECK_BSPLIB(bsplib_pop_reg(on.b, odd ? &x : &y));
      CHECK_BSPLIB(bsplib_pop_reg(on.b, odd ? &y : &x));
      CHECK(bsplib_sync(on.b) == BSPLIB_ERR_POPREG_MISMATCH);
    }
    CHECK_BSPLIB(bsplib_pop_reg(on.b, &y));
    on.sync();

    const std::size_t size = 3 + std::size_t(round);
    CHECK(bsplib_set_tagsize(on.b, odd ? size : 2) == 0);
    CHECK_BSPLIB(bsplib_push_reg(on.b, &y, sizeof y));
    CHECK(bsplib_sync(on.b) == expected(BSPLIB_ERR_TAGSIZE_MISMATCH));
    if (p == 1) CHECK_BSPLIB(bsplib_pop_reg(on.b, &y));
    on.sync();
    CHECK(bsplib_set_tagsize(on.b, 0) == (p == 1 ? size : 0));
    on.sync();
    CHECK(put(y) == BSPLIB_ERR_MEMORY_NOT_REGISTERED);
  }
  // Everything still works.
  CHECK_BSPLIB(bsplib_push_reg(on.b, &y, sizeof y));
  on.sync();
  CHECK_BSPLIB(put(y));
  CHECK_BSPLIB(put(x));
  on.sync();
  CHECK(arrives(x) && arrives(y));
}

void out_of_memory(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args, 0);
  char x = 3, y = 0;
  CHECK_BSPLIB(bsplib_push_reg(on.b, &x, 1));
  on.sync();
  for (const std::size_t much : {SIZE_MAX, SIZE_MAX / 2 + 1}) {
    CHECK(bsplib_put(on.b, 0, &y, &x, 0, much) == BSPLIB_ERR_OUT_OF_MEMORY);
    CHECK(bsplib_get(on.b, 0, &x, 0, &y, much) == BSPLIB_ERR_OUT_OF_MEMORY);
    CHECK(bsplib_send(on.b, 0, nullptr, &y, much) == BSPLIB_ERR_OUT_OF_MEMORY);
    CHECK(bsplib_hpsend(on.b, 0, nullptr, &y, much) == BSPLIB_ERR_OUT_OF_MEMORY);
  }
  CHECK_BSPLIB(bsplib_get(on.b, s, &x, 0, &y, 1));
  bsplib_set_tagsize(on.b, SIZE_MAX);
  on.sync();
  CHECK(x == 3 && y == 3);
  CHECK(bsplib_send(on.b, 0, &x, &y, 1) == BSPLIB_ERR_OUT_OF_MEMORY);
  CHECK(bsplib_set_tagsize(on.b, 0) == SIZE_MAX);
  on.sync();
  std::size_t n = 1;
  CHECK_BSPLIB(bsplib_qsize(on.b, &n, nullptr));
  CHECK(n == 0);
}

void time_goes_on(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  const double begin = bsplib_time(on.b);
  CHECK(begin >= 0 && begin < 60);
  double now = begin;
  while (now == begin) now = bsplib_time(on.b);
  CHECK(now > begin);
}

// Outside of all sections, and after the context has failed.
void check_all_fatal(bsplib_t b, void* x) {
  CHECK(bsplib_sync(b) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_push_reg(b, x, 1) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_pop_reg(b, x) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_put(b, 0, x, x, 0, 1) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_hpget(b, 0, x, 0, x, 1) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_send(b, 0, x, x, 1) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_qsize(b, nullptr, nullptr) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_move(b, x, 1) == BSPLIB_ERR_FATAL);
  CHECK(bsplib_hpmove(b, nullptr, nullptr) == SIZE_MAX);
  CHECK_BSPLIB(bsplib_destroy(b));  // the failure has been returned already
}

void beyond_in_unsafe_mode(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsplib_t b;
  CHECK(bsplib_create(LPF_ROOT, s, p, 0, 0, &b) == BSPLIB_ERR_FATAL && b == nullptr);
  check_processes(s, p, args);
  CHECK_BSPLIB(bsplib_create(ctx, s, p, 0, 0, &b));
  char x = 0;
  CHECK_BSPLIB(bsplib_push_reg(b, &x, 1));
  CHECK_BSPLIB(bsplib_sync(b));
  if (s == p - 1) CHECK_BSPLIB(bsplib_put(b, 0, &x, &x, 1, 1));
  // The target sees it at once, and the others when they sync with it again. In checked mode all
  // see it at once.
  const char* const mode = std::getenv("TUTTI_CHECK");
  const bool checked = mode != nullptr && *mode == '1';
  bsplib_err_t code = bsplib_sync(b);
  CHECK(code == (s == 0 || checked ? BSPLIB_ERR_FATAL : BSPLIB_SUCCESS));
  check_all_fatal(b, &x);
}

void somebody_leaves(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  bsplib_t b;
  CHECK_BSPLIB(bsplib_create(ctx, s, p, 1, 0, &b));
  char x = 0;
  CHECK_BSPLIB(bsplib_push_reg(b, &x, 1));
  CHECK_BSPLIB(bsplib_sync(b));
  if (p == 1 || s == p - 1) return CHECK_BSPLIB(bsplib_destroy(b));
  check_all_fatal(b, &x);
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv,
                       {{"null_pointers", &null_pointers},
                        {"out_of_range", &out_of_range},
                        {"mismatches", &mismatches},
                        {"out_of_memory", &out_of_memory},
                        {"time_goes_on", &time_goes_on},
                        {"beyond_in_unsafe_mode", &beyond_in_unsafe_mode, true}});
  if (code != 0 || argc < 2) return code;
  return run(argc, argv, {{"somebody_leaves", &somebody_leaves}});
}
