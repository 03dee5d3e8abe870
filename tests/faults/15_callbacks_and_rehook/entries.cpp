// SPDX-License-Identifier: Apache-2.0
//
// entries CASE: a process throws in a callback, or process 1 calls another collective function than
// the others. Every process gets LPF_ERR_FATAL from that call or sync, and the job continues. A
// later section must work.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "lpf/collectives.h"
#include "lpf/core.h"

namespace {

void check(bool holds, const char* what, int line) {
  if (holds) return;
  std::fprintf(stderr, "FAILED line %d: %s\n", line, what);
  std::fflush(nullptr);
  std::_Exit(3);
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

constexpr double sum_of_ones = 1;
constexpr std::size_t many = 5000;
constexpr lpf_pid_t thrower = 1;

// Values with their owners. In each operating-system process only the first combination with a
// value of `thrower` throws. So later combinations in that process succeed.
std::atomic_flag has_thrown;
struct marked {
  double values[many];
  double own;
};
template <std::size_t N>
struct small {
  double values[N];
  double own;
};

template <class T>
void add(std::size_t n, const void* from, void* into) {
  for (std::size_t i = 0; i < n; ++i) {
    const T& x = static_cast<const T*>(from)[i];
    T& sum = static_cast<T*>(into)[n == 1 ? 0 : i];
    if ((sum.own == thrower || x.own == thrower) && !has_thrown.test_and_set())
      throw std::runtime_error("no such number");
    sum.values[0] += x.values[0];
  }
}

void sync_fails_for_all(lpf_t ctx) {
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}

template <class T, class Call>
void one_throws(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, Call&& call, int objects = 1, bool syncs_again = true) {
  static_cast<void>(lpf_resize_memory_register(ctx, 4));
  CHECK(lpf_resize_message_queue(ctx, 4 * p) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  T* const data[2] = {new T(), new T()};
  lpf_memslot_t slot[2];
  lpf_coll_t all;
  for (int k = 0; k < 2; ++k) {
    data[k]->values[0] = sum_of_ones;
    data[k]->own = s;
    CHECK(lpf_register_global(ctx, data[k], sizeof(T), &slot[k]) == LPF_SUCCESS);
  }
  CHECK(lpf_collectives_init(ctx, s, p, 2, sizeof(T), sizeof(T), &all) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  for (int k = 0; k < objects; ++k) CHECK(call(all, data[k], slot[k]) == LPF_SUCCESS);
  if (syncs_again)
    sync_fails_for_all(ctx);
  else
    CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
  delete data[0];
  delete data[1];
}

void reduce(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<1>>(ctx, s, p, [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
    return lpf_reduce(c, at, slot, sizeof(small<1>), &add<small<1>>, thrower);
  });
}
void allreduce(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<1>>(ctx, s, p, [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
    return lpf_allreduce(c, at, slot, sizeof(small<1>), &add<small<1>>);
  });
}
// The section ends with the failed sync.
void allreduce_at_end(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<1>>(
      ctx, s, p,
      [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
        return lpf_allreduce(c, at, slot, sizeof(small<1>), &add<small<1>>);
      },
      1, false);
}
void large_allreduce(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<marked>(ctx, s, p, [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
    return lpf_allreduce(c, at, slot, sizeof(marked), &add<marked>);
  });
}
void combine(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<3>>(ctx, s, p, [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
    return lpf_combine(c, at, slot, 1, sizeof(small<3>), &add<small<3>>, thrower);
  });
}
void allcombine(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<30>>(ctx, s, p, [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
    return lpf_allcombine(c, at, slot, 1, sizeof(small<30>), &add<small<30>>);
  });
}
void two_at_once(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t) {
  one_throws<small<30>>(
      ctx, s, p,
      [](lpf_coll_t c, void* at, lpf_memslot_t slot) {
        return lpf_allreduce(c, at, slot, sizeof(small<30>), &add<small<30>>);
      },
      2);
}

void inner(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) { lpf_sync(ctx, LPF_SYNC_DEFAULT); }

void rehook_and_sync(lpf_t ctx, lpf_pid_t s, lpf_pid_t, lpf_args_t) {
  CHECK((s == 1 ? lpf_rehook(ctx, inner, LPF_NO_ARGS) : lpf_sync(ctx, LPF_SYNC_DEFAULT)) == LPF_ERR_FATAL);
  sync_fails_for_all(ctx);
}

void rehook_and_leave(lpf_t ctx, lpf_pid_t s, lpf_pid_t, lpf_args_t) {
  if (s != 1) return;
  CHECK(lpf_rehook(ctx, inner, LPF_NO_ARGS) == LPF_ERR_FATAL);
  sync_fails_for_all(ctx);
}

// Process 1 syncs with the outer context while the inner section runs.
void inner_with_outer(lpf_t, lpf_pid_t s, lpf_pid_t, lpf_args_t args) {
  if (s == 1) CHECK(lpf_sync(*static_cast<const lpf_t*>(args.input), LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}
void outer_sync(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &ctx;
  args.input_size = sizeof ctx;
  CHECK(lpf_rehook(ctx, inner_with_outer, args) == LPF_SUCCESS);
  sync_fails_for_all(ctx);
}

// The same with another inner section.
void inner_rehooks_outer(lpf_t, lpf_pid_t s, lpf_pid_t, lpf_args_t args) {
  if (s != 1) return;
  CHECK(lpf_rehook(*static_cast<const lpf_t*>(args.input), inner, LPF_NO_ARGS) == LPF_ERR_FATAL);
}
void outer_rehook(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &ctx;
  args.input_size = sizeof ctx;
  CHECK(lpf_rehook(ctx, inner_rehooks_outer, args) == LPF_SUCCESS);
  sync_fails_for_all(ctx);
}

// Process 1 fails, and the section ends without a further sync.
void inner_with_mistake(lpf_t ctx, lpf_pid_t s, lpf_pid_t, lpf_args_t) {
  if (s == 1) CHECK(lpf_deregister(ctx, LPF_INVALID_MEMSLOT) == LPF_ERR_FATAL);
}
void fails_at_end(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  CHECK(lpf_rehook(ctx, inner_with_mistake, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

void good(lpf_t ctx, lpf_pid_t s, lpf_pid_t, lpf_args_t args) {
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  if (s == 0) *static_cast<bool*>(args.output) = true;
}

struct test_case {
  const char* name;
  lpf_spmd_t run;
  bool fails = true;  // whether the section, and with it lpf_exec(), fails
};
constexpr test_case cases[] = {{"reduce", &reduce},
                               {"allreduce", &allreduce},
                               {"allreduce_at_end", &allreduce_at_end},
                               {"large_allreduce", &large_allreduce},
                               {"combine", &combine},
                               {"allcombine", &allcombine},
                               {"two_at_once", &two_at_once},
                               {"rehook_and_sync", &rehook_and_sync},
                               {"rehook_and_leave", &rehook_and_leave, false},
                               {"fails_at_end", &fails_at_end, false},
                               {"outer_sync", &outer_sync},
                               {"outer_rehook", &outer_rehook}};

}  // namespace

int main(int argc, char** argv) {
  for (const test_case& one : cases) {
    if (argc < 2 || std::strcmp(argv[1], one.name) != 0) continue;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, one.run, LPF_NO_ARGS) == (one.fails ? LPF_ERR_FATAL : LPF_SUCCESS));
    bool has_run = false;
    lpf_args_t args = LPF_NO_ARGS;
    args.output = &has_run;
    args.output_size = sizeof has_run;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &good, args) == LPF_SUCCESS && has_run);
    std::fprintf(stderr, "all processes have ended\n");
    return 0;
  }
  CHECK(!"a case");
}
