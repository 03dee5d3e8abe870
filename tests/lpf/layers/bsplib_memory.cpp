// SPDX-License-Identifier: Apache-2.0
//
// Tests BSPlib's puts and gets, buffered and unbuffered, against a model that every process runs
// for all.
#include <algorithm>
#include <numeric>

#include "bsplib.hpp"

using namespace layers;

namespace {

// A put sends the value at the time of the call. A get reads the contents before the puts, and its
// result is written before the puts write.
void order_in_a_superstep(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  const lpf_pid_t right = (s + 1) % p, left = (s + p - 1) % p;
  int x[4] = {int(s), -1, -1, -1};
  CHECK_BSPLIB(bsplib_push_reg(on.b, x, sizeof x));
  on.sync();
  int value = 100 + int(s), got = -1;
  CHECK_BSPLIB(bsplib_put(on.b, right, &value, x, 0, sizeof value));
  value = -7;  // has no effect
  CHECK_BSPLIB(bsplib_get(on.b, right, x, 0, &got, sizeof got));
  // A get writes to x[1], and a put of the left process overwrites it.
  CHECK_BSPLIB(bsplib_get(on.b, right, x, 0, &x[1], sizeof(int)));
  value = 200 + int(s);
  CHECK_BSPLIB(bsplib_put(on.b, right, &value, x, sizeof(int), sizeof value));
  // A put from memory that a get will change takes the present contents.
  x[2] = 300 + int(s);
  CHECK_BSPLIB(bsplib_put(on.b, right, &x[2], x, 3 * sizeof(int), sizeof(int)));
  CHECK_BSPLIB(bsplib_get(on.b, left, x, 0, &x[2], sizeof(int)));
  CHECK(x[0] == int(s) && x[1] == -1 && got == -1);  // nothing moves before the sync
  on.sync();
  CHECK(got == int(right));
  CHECK(x[0] == 100 + int(left));
  CHECK(x[1] == 200 + int(left));
  CHECK(x[2] == int(left));
  CHECK(x[3] == 300 + int(left));
}

// A ring of gets, each of which reads what another one writes: all read the old values.
void gets_of_what_gets_write(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  std::vector<std::uint64_t> x(1000, s);
  CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), x.size() * 8));
  on.sync();
  for (lpf_pid_t step = 1; step <= 5; ++step) {
    CHECK_BSPLIB(bsplib_get(on.b, (s + 1) % p, x.data(), 0, x.data(), x.size() * 8));
    on.sync();
    CHECK(std::all_of(x.begin(), x.end(), [&](std::uint64_t v) { return v == (s + step) % p; }));
  }
}

void all_to_all(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const std::size_t hp : {std::size_t{0}, std::size_t{1}, std::size_t{SIZE_MAX}}) {
    bsp_program on(ctx, s, p, args, hp == 1, hp);
    std::vector<unsigned> into(p, ~0u), from(p), got(p, ~0u);
    for (lpf_pid_t q = 0; q < p; ++q) from[q] = s * 1000 + q;
    CHECK_BSPLIB(bsplib_push_reg(on.b, into.data(), p * sizeof(unsigned)));
    CHECK_BSPLIB(bsplib_push_reg(on.b, from.data(), p * sizeof(unsigned)));
    on.sync();
    for (int step = 0; step < 3; ++step) {
      for (lpf_pid_t q = 0; q < p; ++q) {
        CHECK_BSPLIB(bsplib_hpput(on.b, q, &from[q], into.data(), s * sizeof(unsigned), sizeof(unsigned)));
        CHECK_BSPLIB(bsplib_hpget(on.b, q, from.data(), s * sizeof(unsigned), &got[q], sizeof(unsigned)));
      }
      on.sync();
      for (lpf_pid_t q = 0; q < p; ++q) CHECK(into[q] == q * 1000 + s && got[q] == q * 1000 + s);
      std::fill(into.begin(), into.end(), ~0u);
      std::fill(got.begin(), got.end(), ~0u);
    }
  }
}

// More operations than the queues can hold, from one process and from all.
void many(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    const std::size_t n = 3000;
    std::vector<unsigned> x(n * p), got(n, ~0u), source(n);
    std::iota(source.begin(), source.end(), s * 7777);
    CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), x.size() * sizeof(unsigned)));
    CHECK_BSPLIB(bsplib_push_reg(on.b, source.data(), n * sizeof(unsigned)));
    on.sync();
    for (int step = 0; step < 3; ++step) {
      const bool busy = step > 0 || s == p - 1;
      const lpf_pid_t to = (s + 1) % p;
      for (std::size_t i = 0; busy && i < n; ++i) {
        CHECK_BSPLIB(bsplib_get(on.b, to, source.data(), i * sizeof(unsigned), &got[i], sizeof(unsigned)));
        CHECK_BSPLIB(
            bsplib_put(on.b, to, &source[i], x.data(), (s * n + i) * sizeof(unsigned), sizeof(unsigned)));
      }
      on.sync();
      for (std::size_t i = 0; busy && i < n; ++i) CHECK(got[i] == to * 7777 + i);
      const lpf_pid_t from = (s + p - 1) % p;
      for (std::size_t i = 0; (step > 0 || from == p - 1) && i < n; ++i)
        CHECK(x[from * n + i] == from * 7777 + i);
      std::fill(got.begin(), got.end(), ~0u);
      std::fill(x.begin(), x.end(), 0);
    }
  }
}

// Overlapping puts. The result must consist of complete puts.
void overlapping(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args);
  unsigned char x[64];
  CHECK_BSPLIB(bsplib_push_reg(on.b, x, sizeof x));
  on.sync();
  for (int step = 0; step < 4; ++step) {
    std::memset(x, 255, sizeof x);
    unsigned char mine[64];
    std::memset(mine, int(s), sizeof mine);
    CHECK_BSPLIB(bsplib_put(on.b, 0, mine, x, 0, sizeof mine));
    on.sync();
    CHECK(s == 0 ? x[0] < p : x[0] == 255);
    CHECK(std::all_of(x, x + 64, [&](unsigned char c) { return c == x[0]; }));
  }
}

void nothing_at_all(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1}) {
    bsp_program on(ctx, s, p, args, safe);
    char x = 1;
    CHECK_BSPLIB(bsplib_push_reg(on.b, &x, 0));
    on.sync();
    for (lpf_pid_t q = 0; q < p; ++q) {
      CHECK_BSPLIB(bsplib_put(on.b, q, nullptr, &x, 0, 0));
      CHECK_BSPLIB(bsplib_hpput(on.b, q, &x, &x, 0, 0));
      CHECK_BSPLIB(bsplib_get(on.b, q, &x, 0, nullptr, 0));
      CHECK_BSPLIB(bsplib_hpget(on.b, q, &x, 0, &x, 0));
    }
    for (int i = 0; i < 5; ++i) on.sync();
    CHECK(x == 1);
  }
}

// All processes, with memory of different sizes: each draws the operations of all.
struct simulation {
  static constexpr std::size_t cells = 40;
  std::vector<std::vector<std::uint64_t>> registered, other;  // of process 0, 1 ...

  explicit simulation(lpf_pid_t p) : registered(p), other(p) {
    for (lpf_pid_t q = 0; q < p; ++q) {
      registered[q].assign(cells + q, 0);
      other[q].assign(cells, 0);
      for (std::size_t i = 0; i < registered[q].size(); ++i) registered[q][i] = hash_of({1, q, i});
      for (std::size_t i = 0; i < cells; ++i) other[q][i] = hash_of({2, q, i});
    }
  }
};

struct operation {
  bool is_get, direct, into_other;
  lpf_pid_t by, peer;
  std::size_t local, remote, count;  // cells
};

// No cell is written twice, except that a put may overwrite the result of a get. Only hpput and
// hpget use the upper half of all memory.
std::vector<operation> operations(lpf_pid_t p, std::uint64_t step, const simulation& all) {
  std::vector<operation> made;
  std::vector<std::vector<int>> put_to(p), got_to(p), got_to_other(p), direct_use(p), direct_other(p);
  for (lpf_pid_t q = 0; q < p; ++q) {
    put_to[q].resize(all.registered[q].size());
    got_to[q].resize(all.registered[q].size());
    direct_use[q].resize(all.registered[q].size());
    got_to_other[q].resize(simulation::cells);
    direct_other[q].resize(simulation::cells);
  }
  for (lpf_pid_t by = 0; by < p; ++by) {
    const std::size_t n = hash_of({step, by}) % 12;
    for (std::size_t i = 0; i < n; ++i) {
      const auto draw = [&](std::uint64_t what, std::size_t below) {
        return std::size_t(hash_of({step, by, i, what}) % below);
      };
      operation o{draw(1, 2) == 0, draw(2, 3) == 0, false, by, lpf_pid_t(draw(3, p)), 0, 0, 1 + draw(4, 3)};
      const std::size_t half = simulation::cells / 2;
      o.into_other = o.direct || draw(5, 2) == 0;
      const std::size_t base = o.direct ? half : 0;
      o.remote = base + draw(6, half - o.count);
      o.local = base + draw(7, half - o.count);
      auto& written = o.is_get ? (o.into_other ? got_to_other[by] : got_to[by]) : put_to[o.peer];
      const std::size_t at = o.is_get ? o.local : o.remote;
      bool free = true;
      for (std::size_t c = 0; c < o.count; ++c) {
        free = free && written[at + c] == 0;
        if (o.direct)
          free = free && direct_use[o.peer][o.remote + c] == 0 && direct_other[by][o.local + c] == 0;
      }
      if (!free) continue;
      for (std::size_t c = 0; c < o.count; ++c) {
        written[at + c] = 1;
        if (o.direct) direct_use[o.peer][o.remote + c] = direct_other[by][o.local + c] = 1;
      }
      made.push_back(o);
    }
  }
  return made;
}

void oracle(simulation& all, const std::vector<operation>& made) {
  const simulation previous = all;
  for (const bool gets : {true, false})
    for (const operation& o : made)
      for (std::size_t c = 0; c < o.count && o.is_get == gets; ++c) {
        if (gets)
          (o.into_other ? all.other : all.registered)[o.by][o.local + c] =
              previous.registered[o.peer][o.remote + c];
        else
          all.registered[o.peer][o.remote + c] =
              (o.into_other ? previous.other : previous.registered)[o.by][o.local + c];
      }
}

void drawn_supersteps(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  for (const int safe : {0, 1})
    for (const std::size_t hp : {std::size_t{0}, std::size_t{3}, std::size_t{100}}) {
      bsp_program on(ctx, s, p, args, safe, hp);
      simulation all(p);
      std::vector<std::uint64_t> x = all.registered[s], other = all.other[s];
      CHECK_BSPLIB(bsplib_push_reg(on.b, x.data(), x.size() * 8));
      on.sync();
      for (std::uint64_t step = 0; step < 10; ++step) {
        const auto made = operations(p, hash_of({hp, step}), all);
        for (const operation& o : made) {
          if (o.by != s) continue;
          std::uint64_t* const local = (o.into_other ? other : x).data() + o.local;
          if (o.is_get)
            CHECK_BSPLIB((o.direct ? bsplib_hpget : bsplib_get)(on.b, o.peer, x.data(), o.remote * 8, local,
                                                                o.count * 8));
          else
            CHECK_BSPLIB((o.direct ? bsplib_hpput : bsplib_put)(on.b, o.peer, local, x.data(), o.remote * 8,
                                                                o.count * 8));
        }
        oracle(all, made);
        on.sync();
        CHECK(x == all.registered[s]);
        CHECK(other == all.other[s]);
      }
    }
}

void long_ones(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  bsp_program on(ctx, s, p, args, 0, 4);
  const std::size_t n = 100000;
  std::vector<unsigned char> x = bytes_of(s, n), put(n), hpput(n), got(n), hpgot(n);
  for (auto* one : {&x, &put, &hpput}) CHECK_BSPLIB(bsplib_push_reg(on.b, one->data(), n));
  on.sync();
  const lpf_pid_t right = (s + 1) % p, left = (s + p - 1) % p;
  CHECK_BSPLIB(bsplib_put(on.b, right, x.data(), put.data(), 0, n));
  CHECK_BSPLIB(bsplib_hpput(on.b, right, x.data(), hpput.data(), 0, n));
  CHECK_BSPLIB(bsplib_get(on.b, right, x.data(), 0, got.data(), n));
  CHECK_BSPLIB(bsplib_hpget(on.b, right, x.data(), 0, hpgot.data(), n));
  on.sync();
  CHECK(put == bytes_of(left, n) && hpput == put);
  CHECK(got == bytes_of(right, n) && hpgot == got);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"order_in_a_superstep", &order_in_a_superstep},
              {"gets_of_what_gets_write", &gets_of_what_gets_write},
              {"all_to_all", &all_to_all},
              {"many", &many},
              {"overlapping", &overlapping},
              {"nothing_at_all", &nothing_at_all},
              {"drawn_supersteps", &drawn_supersteps},
              {"long_ones", &long_ones}});
}
