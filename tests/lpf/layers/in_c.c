/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses both layers in C99: a sum over all processes in every possible way.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lpf_check.h"
#include "lpf/bsmp.h"
#include "lpf/bsplib.h"

static void by_bsmp(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  lpf_bsmp_t all[2] = {LPF_INVALID_BSMP, LPF_INVALID_BSMP};
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  unsigned value = s + 1, round, sum;
  lpf_pid_t q;
  size_t i, size;
  void *tag, *payload;
  (void)args;
  CHECK(lpf_resize_memory_register(ctx, 5) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 2 * (4 * p + 2 * p)) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  for (i = 0; i < 2; ++i)
    CHECK(lpf_bsmp_create(ctx, s, p, p * sizeof value, sizeof value, p, &all[i]) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, &value, sizeof value, &slot) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  for (round = 0; round < 2; ++round) {
    for (q = 0; q < p; ++q)
      for (i = 0; i <= round; ++i) CHECK(lpf_send(all[i], q, slot, 0, slot, 0, sizeof value) == LPF_SUCCESS);
    CHECK((round == 0 ? lpf_bsmp_sync(all[0], LPF_SYNC_DEFAULT)
                      : lpf_bsmp_syncall(all, 2, LPF_SYNC_DEFAULT)) == LPF_SUCCESS);
    for (i = 0; i <= round; ++i) {
      for (sum = 0, q = 0; q < p; ++q) {
        CHECK(lpf_move(all[i], &tag, &payload, &size) == LPF_SUCCESS);
        CHECK(size == sizeof value && *(unsigned*)tag == q + 1);
        sum += *(unsigned*)payload;
      }
      CHECK(sum == p * (p + 1) / 2);
      CHECK(lpf_move(all[i], &tag, &payload, &size) == LPF_SUCCESS && size == LPF_INVALID_SIZE);
    }
  }
  for (i = 0; i < 2; ++i) CHECK(lpf_bsmp_destroy(&all[i]) == LPF_SUCCESS && all[i] == LPF_INVALID_BSMP);
  CHECK(LPF_ERR_BSMP_FULL != LPF_ERR_BSMP_INVAL && LPF_ERR_BSMP_FULL != LPF_SUCCESS);
}

static void by_bsplib(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsplib_t b = NULL;
  unsigned value = s + 1, sum, i;
  unsigned* values = (unsigned*)calloc(p, sizeof value);
  const void *tag, *payload;
  size_t n, bytes, status;
  (void)args;
  CHECK(values != NULL && bsplib_create(ctx, s, p, 1, p, &b) == BSPLIB_SUCCESS);
  CHECK(bsplib_nprocs(b) == p && bsplib_pid(b) == s && bsplib_time(b) >= 0);
  CHECK(bsplib_set_tagsize(b, sizeof value) == 0);
  CHECK(bsplib_push_reg(b, values, p * sizeof value) == BSPLIB_SUCCESS);
  CHECK(bsplib_push_reg(b, &value, sizeof value) == BSPLIB_SUCCESS);
  CHECK(bsplib_sync(b) == BSPLIB_SUCCESS);
  for (i = 0; i < 4; ++i) {
    lpf_pid_t q;
    for (q = 0; q < p; ++q) values[q] = 0;
    for (q = 0; q < p; ++q)
      CHECK((i == 0   ? bsplib_put(b, q, &value, values, s * sizeof value, sizeof value)
             : i == 1 ? bsplib_hpput(b, q, &value, values, s * sizeof value, sizeof value)
             : i == 2 ? bsplib_get(b, q, &value, 0, &values[q], sizeof value)
                      : bsplib_hpget(b, q, &value, 0, &values[q], sizeof value)) == BSPLIB_SUCCESS);
    CHECK(bsplib_sync(b) == BSPLIB_SUCCESS);
    for (sum = 0, q = 0; q < p; ++q) sum += values[q];
    CHECK(sum == p * (p + 1) / 2);
  }
  for (i = 0; i < p; ++i)
    CHECK((i % 2 == 0 ? bsplib_send(b, i, &value, &value, sizeof value)
                      : bsplib_hpsend(b, i, &value, &value, sizeof value)) == BSPLIB_SUCCESS);
  CHECK(bsplib_pop_reg(b, values) == BSPLIB_SUCCESS);
  CHECK(bsplib_sync(b) == BSPLIB_SUCCESS);
  CHECK(bsplib_qsize(b, &n, &bytes) == BSPLIB_SUCCESS && n == p && bytes == p * sizeof value);
  for (sum = 0, i = 0; i < p; ++i) {
    unsigned got = 0;
    CHECK(bsplib_get_tag(b, &status, &got) == BSPLIB_SUCCESS && status == sizeof value && got == i + 1);
    if (i % 2 == 0)
      CHECK(bsplib_move(b, &got, sizeof got) == BSPLIB_SUCCESS);
    else
      CHECK(bsplib_hpmove(b, &tag, &payload) == sizeof got && *(const unsigned*)payload == got);
    sum += got;
  }
  CHECK(sum == p * (p + 1) / 2);
  CHECK(bsplib_hpmove(b, &tag, &payload) == SIZE_MAX);
  CHECK(bsplib_destroy(b) == BSPLIB_SUCCESS);
  free(values);
}

/* One section for both; the second runs in a context of its own. */
static void both(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  by_bsmp(ctx, s, p, args);
  CHECK(lpf_rehook(ctx, &by_bsplib, args) == LPF_SUCCESS);
  CHECK(s != 0 || *(const int*)args.input == (int)p);
}

int main(int argc, char** argv) {
  lpf_args_t args = LPF_NO_ARGS;
  int p = argc > 1 ? atoi(argv[1]) : 0;
  args.input = &p;
  args.input_size = sizeof p;
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &both, args) == LPF_SUCCESS);
  return 0;
}
