// SPDX-License-Identifier: Apache-2.0
//
// errors P: tests the return values of calls whose arguments cannot be served, or are not used.
#include "../../lpf/layers/bsplib.hpp"
#include "lpf/collectives.h"

using namespace layers;

namespace {

void impossible_collectives(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  CHECK_LPF(lpf_resize_memory_register(ctx, 2));
  CHECK_LPF(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  lpf_coll_t c = LPF_INVALID_COLL;
  for (std::size_t part = 1; part <= 4096; part *= 8) {
    const std::size_t much = SIZE_MAX / part;
    CHECK(lpf_collectives_init(ctx, s, p, 1, much, 8, &c) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(lpf_collectives_init(ctx, s, p, 1, 8, much, &c) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(lpf_collectives_init(ctx, s, p, much, much, much, &c) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(lpf_collectives_init(ctx, s, p, much, 8, 8, &c) == LPF_ERR_OUT_OF_MEMORY);
    CHECK(lpf_collectives_init_strided(ctx, s, p, s, p, 1, 1, much, 0, &c) == LPF_ERR_OUT_OF_MEMORY);
  }
  CHECK(c.ctx == LPF_INVALID_COLL.ctx && c.P == 0);
  // The register has lost no entry, and the process continues. Large sizes that are available
  // succeed.
  CHECK_LPF(lpf_collectives_init(ctx, s, p, 1, 8, 8, &c));
  CHECK_LPF(lpf_collectives_init(ctx, s, p, 1, std::size_t{1} << 33, std::size_t{1} << 33, &c));
  CHECK(lpf_collectives_init(ctx, s, p, 1, 8, 8, &c) == LPF_ERR_OUT_OF_MEMORY);
  CHECK_LPF(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

// Puts and gets of zero bytes use no address.
void of_zero_bytes(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe, 2);
    char a = 'a', b = 'b', c = 'c';
    CHECK_BSPLIB(bsplib_push_reg(on.b, &c, 1));
    on.sync();
    const lpf_pid_t next = (s + 1) % p;
    for (void* far : {static_cast<void*>(&b), static_cast<void*>(&c), static_cast<void*>(nullptr)})
      for (void* near : {static_cast<void*>(&a), static_cast<void*>(nullptr)}) {
        CHECK_BSPLIB(bsplib_put(on.b, next, near, far, 5, 0));
        CHECK_BSPLIB(bsplib_hpput(on.b, next, near, far, 5, 0));
        CHECK_BSPLIB(bsplib_get(on.b, next, far, 5, near, 0));
        CHECK_BSPLIB(bsplib_hpget(on.b, next, far, 5, near, 0));
      }
    CHECK(bsplib_put(on.b, p, &a, &c, 0, 0) == BSPLIB_ERR_PID_OUT_OF_RANGE);
    on.sync();
    CHECK(a == 'a' && b == 'b' && c == 'c');
  }
}

// Process 0 registers null. So no process may access memory there, and process 0 cannot use the
// registration itself.
void registered_as_null(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  int x = 5, y = 6;
  CHECK(bsplib_push_reg(on.b, nullptr, sizeof x) == BSPLIB_ERR_NULL_POINTER);
  CHECK_BSPLIB(bsplib_push_reg(on.b, s == 0 ? nullptr : &x, s == 0 ? 0 : sizeof x));
  on.sync();
  void* const name = s == 0 ? nullptr : &x;
  for (lpf_pid_t q = 0; q < p; ++q) {
    const auto expected = s == 0 || q == 0 ? BSPLIB_ERR_NULL_POINTER : BSPLIB_SUCCESS;
    CHECK(bsplib_put(on.b, q, &y, name, 0, sizeof y) == expected);
    CHECK(bsplib_hpput(on.b, q, &y, name, 0, sizeof y) == expected);
  }
  CHECK(bsplib_get(on.b, 0, name, 0, &y, sizeof y) == BSPLIB_ERR_NULL_POINTER);
  CHECK(bsplib_hpget(on.b, 0, name, 0, &y, sizeof y) == BSPLIB_ERR_NULL_POINTER);
  on.sync();
  CHECK(x == (s == 0 || p == 1 ? 5 : 6) && y == 6);
  CHECK_BSPLIB(bsplib_pop_reg(on.b, name));
  on.sync();
}

// Only process 0 syncs, or all but process 0. The syncs fail; all objects and the section end
// normally.
template <bool First>
void sync_that_is_missed(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  bsplib_t b;
  CHECK_BSPLIB(bsplib_create(ctx, s, p, 1, 0, &b));
  if ((s == 0) == First && p > 1) CHECK(bsplib_sync(b) == BSPLIB_ERR_FATAL);
  CHECK_BSPLIB(bsplib_destroy(b));
}

// The call copies the tag, but not the payload.
void tag_of_hpsend(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  bsplib_set_tagsize(on.b, sizeof(unsigned));
  on.sync();
  unsigned tag = 10 + s, payload = 0;
  for (lpf_pid_t q = 0; q < p; ++q) {
    tag = 100 * s + q;
    CHECK_BSPLIB(bsplib_hpsend(on.b, q, &tag, &payload, sizeof payload));
  }
  tag = 4711;
  payload = 20 + s;
  on.sync();
  for (lpf_pid_t q = 0; q < p; ++q) {
    const void *at = nullptr, *what = nullptr;
    CHECK(bsplib_hpmove(on.b, &at, &what) == sizeof payload);
    CHECK(*static_cast<const unsigned*>(at) == 100 * q + s && *static_cast<const unsigned*>(what) == 20 + q);
  }
}

// A section with all processes leaves one to each; lpf_exec() and the machine agree on it.
void free_processes(lpf_t ctx, lpf_pid_t, lpf_pid_t p, lpf_args_t) {
  lpf_machine_t m = LPF_INVALID_MACHINE;
  CHECK_LPF(lpf_probe(ctx, &m));
  CHECK(m.p == p && m.free_p == 1);
  CHECK_LPF(lpf_exec(
      ctx, LPF_MAX_P, [](lpf_t, lpf_pid_t, lpf_pid_t n, lpf_args_t) { CHECK(n == 1); }, LPF_NO_ARGS));
  CHECK_LPF(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"impossible_collectives", &impossible_collectives},
              {"of_zero_bytes", &of_zero_bytes},
              {"registered_as_null", &registered_as_null},
              {"sync_only_on_0", &sync_that_is_missed<true>},
              {"sync_except_on_0", &sync_that_is_missed<false>},
              {"tag_of_hpsend", &tag_of_hpsend},
              {"free_processes", &free_processes}});
}
