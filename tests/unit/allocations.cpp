// SPDX-License-Identifier: Apache-2.0
//
// Tests that a repeated call allocates nothing, in any form, and that destroyed groups leave no
// memory. It counts all calls of operator new.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <tutti/detail/bsp_abi.hpp>
#include <tutti/detail/p2p_abi.hpp>
#include <tutti/group.hpp>
#include <tutti/timer.hpp>
#include <tutti/tutti.hpp>

namespace {

std::atomic<long> allocations{0}, freed{0};
thread_local bool out_of_memory = false;  // this thread gets no memory

}  // namespace

// Not inlined, because compilers warn about free() of memory from new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (!out_of_memory)
    if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p != nullptr) freed.fetch_add(1, std::memory_order_relaxed);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace tutti {
namespace {

struct one_way {
  const char* engine;
  int ranks;
  std::size_t count;
};
std::ostream& operator<<(std::ostream& to, const one_way& w) {
  return to << w.engine << " " << w.ranks << " ranks, " << w.count << " elements";
}

class cached_call : public testing::TestWithParam<one_way> {};

// Returns the allocations of all ranks' calls between two barriers, after a few calls for warm-up.
// `prepare` returns a function that makes the calls once. At the end `out` must contain the sum
// over the ranks.
template <class Prepare>
long counted(const Prepare& prepare) {
  const one_way& w = cached_call::GetParam();
  run_options how;
  how.engine = w.engine;
  how.ranks = w.ranks;
  how.workers = 2;
  long all = -1;
  run(how, [&](communicator& world) {
    std::vector<double> in(w.count, world.rank()), out(w.count);
    auto calls = prepare(world, in, out);
    long before = 0;
    for (int i = 0; i < 30; ++i) {
      if (i == 20) {
        world.barrier();
        if (world.rank() == 0) before = allocations.load();
        world.barrier();
      }
      calls();
    }
    world.barrier();
    if (world.rank() == 0) all = allocations.load() - before;
    world.barrier();
    const double sum = world.size() * (world.size() - 1) / 2.0;
    for (const double one : out)
      if (one != sum) throw std::runtime_error("the sum is wrong");
  });
  return all;
}

TEST_P(cached_call, blocking_calls_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              return [&] {
                world.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{}));
                world.bcast(send_recv_buf(in), send_recv_count(in.size()));
                world.barrier();
                in.assign(in.size(), world.rank());
              };
            }),
            0);
}

TEST_P(cached_call, nonblocking_calls_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              return [&] {
                auto sum = world.iallreduce(send_buf(in), recv_buf(out), op(std::plus<>{}));
                auto met = world.ibarrier();
                met.wait();
                sum.wait();
              };
            }),
            0);
}

TEST_P(cached_call, persistent_calls_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              auto sum = world.allreduce_init(send_buf(in), recv_buf(out), op(std::plus<>{}));
              return [sum = std::move(sum)]() mutable {
                sum.start();
                sum.wait();
              };
            }),
            0);
}

// Sends to the next rank p - 1 times and adds up, which gives the sum.
template <class Shift>
auto sum_by_shifts(communicator& world, std::vector<double>& in, std::vector<double>& out,
                   const Shift& shift) {
  const int left = (world.rank() + world.size() - 1) % world.size(),
            right = (world.rank() + 1) % world.size();
  return [&world, &in, &out, shift, left, right, outgoing = in, incoming = in]() mutable {
    out = outgoing = in;
    for (int i = 1; i < world.size(); ++i) {
      const std::size_t bytes = in.size() * sizeof(double);
      detail::send_args l{.destination = right, .tag = i, .data = outgoing.data(), .bytes = bytes};
      detail::recv_args r{.source = left, .tag = i, .into = incoming.data(), .capacity = bytes};
      shift(detail::impl_of(world), l, r);
      outgoing = incoming;
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += incoming[k];
    }
  };
}

TEST_P(cached_call, blocking_messages_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              return sum_by_shifts(
                  world, in, out,
                  [&world](detail::communicator_impl& c, detail::send_args& l, detail::recv_args& r) {
                    detail::envelope e;
                    if (world.rank() != 0) detail::probe(c, "probe", r.source, r.tag, true, e);
                    if (world.rank() != 0) detail::receive(c, r);
                    detail::send(c, l);
                    if (world.rank() == 0) detail::receive(c, r);
                  });
            }),
            0);
}

TEST_P(cached_call, nonblocking_and_persistent_messages_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              return sum_by_shifts(
                  world, in, out,
                  [](detail::communicator_impl& c, detail::send_args& l, detail::recv_args& r) {
                    l.mode = l.tag % 2 ? send_modes::standard : send_modes::synchronous;
                    auto incoming = detail::start_receive(c, r);
                    auto sent = detail::prepare_send(c, l);
                    sent->start();
                    incoming->wait();
                    sent->wait();
                  });
            }),
            0);
}

TEST_P(cached_call, messages_by_name_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              const int left = (world.rank() + world.size() - 1) % world.size(),
                        right = (world.rank() + 1) % world.size();
              return [&world, &in, &out, left, right, outgoing = in, incoming = in]() mutable {
                out = outgoing = in;
                request sent, received;
                for (int i = 1; i < world.size(); ++i) {
                  if (i % 3 == 0) {
                    world.sendrecv(send_buf(outgoing), recv_buf(incoming), destination(right), source(left));
                  } else if (i % 3 == 1) {
                    world.irecv(recv_buf<resize_to_fit>(incoming), source(left), request(received));
                    world.isend(send_buf(outgoing), destination(right), request(sent));
                    received.wait();
                    sent.wait();
                  } else {
                    auto pending = world.irecv(recv_buf(incoming), recv_count(incoming.size()), source(left));
                    world.send(send_buf(outgoing), destination(right));
                    pending.wait();
                  }
                  outgoing = incoming;
                  for (std::size_t k = 0; k < out.size(); ++k) out[k] += incoming[k];
                }
              };
            }),
            0);
}

TEST_P(cached_call, timers_allocate_nothing) {
  EXPECT_EQ(counted([](communicator& world, std::vector<double>& in, std::vector<double>& out) {
              return [&, t = timer(world),
                      name = std::string("a name that is too long for its object")]() mutable {
                const auto outer = t.scoped(name);
                for (int i = 0; i < 3; ++i) {
                  t.start("inside");
                  t.count("bytes", 8);
                  t.stop();
                  t.start_synchronized("other");
                  t.stop();
                }
                world.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{}));
              };
            }),
            0);
}

// Repeated supersteps: messages of all lengths, a collective of each kind, several at once.
TEST_P(cached_call, supersteps_allocate_nothing) {
  const one_way& way = GetParam();
  run_options how;
  how.engine = way.engine;
  how.ranks = way.ranks;
  std::atomic<long> min_allocations{1000000};
  run(how, [&](communicator& world) {
    namespace abi = bsp::abi;
    const int p = world.size(), next = (world.rank() + 1) % p;
    const std::size_t bytes = way.count * sizeof(double);
    std::vector<double> from(way.count * p), into(way.count * p);
    bsp::process* const mine = abi::open(detail::impl_of(world), false);
    abi::resize_memory_register(*mine, 3);
    abi::resize_queue(*mine, 8);
    abi::sync(*mine);
    bsp::slot f, t;
    bsp::process_set_id all;
    abi::register_memory(*mine, true, from.data(), bytes * p, f);
    abi::register_memory(*mine, true, into.data(), bytes * p, t);
    abi::make_process_set(*mine, 0, p - 1, 1, {2, 8, bytes * p}, all);
    const auto sum = [](std::size_t n, const void* other, void* sums) {
      for (std::size_t i = 0; i < n; ++i)
        static_cast<double*>(sums)[i] += static_cast<const double*>(other)[i];
    };
    const auto supersteps = [&] {
      abi::sync(*mine);
      abi::put(*mine, f, 0, next, t, 0, 8);
      abi::sync(*mine);
      abi::put(*mine, f, 0, next, t, 0, bytes);
      abi::get(*mine, next, f, 0, t, bytes * (p - 1), bytes);
      abi::sync(*mine);
      abi::reduce(*mine, all, from.data(), f, 1, 8, sum, -1, true);
      abi::sync(*mine);
      abi::broadcast(*mine, all, f, t, bytes, 0);
      abi::sync(*mine);
      abi::alltoall(*mine, all, f, t, bytes);
      abi::sync(*mine);
    };
    for (int i = 0; i < 20; ++i) supersteps();
    // Other ranks, and the engine, may still be active, so the least of several counts matters.
    for (int i = 0; i < 10; ++i) {
      world.barrier();
      const long before = allocations.load();
      world.barrier();
      supersteps();
      world.barrier();
      const long after = allocations.load();
      if (world.rank() == 0) min_allocations = std::min(min_allocations.load(), after - before);
    }
    abi::leave(*mine);
    abi::close(mine);
  });
  EXPECT_EQ(min_allocations.load(), 0) << way;
}

// Makes, uses and destroys groups; 10^5 in all on fibers.
void make_many_groups(const char* engine, int ranks) {
  run_options how;
  how.engine = engine;
  how.ranks = ranks;
  how.workers = 2;
  std::atomic<long> left{-1};
  run(how, [&](communicator& world) {
    const int p = world.size(), me = world.rank(), half = p / 2;
    const auto used = [&](const communicator& g) {
      if (g.allreduce_single(send_buf(1), op(std::plus<>{})) != g.size())
        throw std::runtime_error("wrong sum");
    };
    const auto all_ways = [&] {
      used(me < half ? world.range(0, half - 1) : world.range(half, p - 1));
      used(*world.split(me % 2, -me));
      used(*world.split_bin(2, me < half));
      used(world.over(chain(world).split_bin(2, me < half)));
      used(world.over(logring(world)));
    };
    const auto alive = [&] {
      world.barrier();
      const long now = allocations.load() - freed.load();
      world.barrier();
      return now;
    };
    for (int i = 0; i < 200; ++i) all_ways();
    const long before = alive();
    for (int i = 0; i < 5000; ++i) all_ways();
    const long after = alive();
    if (me == 0) left = after - before;
  });
  // Pools grow a little if ranks arrive in another order.
  EXPECT_LT(left.load(), 100 * ranks) << engine;
}
TEST(groups, leave_nothing) {
  make_many_groups("fibers", 5);
  make_many_groups("threads", 2);
}

// The ranks are new threads, which have moved no communicator before.
TEST(memory, without_any_a_moved_from_communicator_stays_a_copy) {
  run_options how;
  how.engine = "threads";
  how.ranks = 2;
  std::atomic<int> copies{0}, rejected{0};
  run(how, [&](communicator& world) {
    communicator first = world;
    out_of_memory = true;
    communicator second = std::move(first);
    out_of_memory = false;
    if (first.allreduce_single(send_buf(1), op(std::plus<>{})) == 2) ++copies;
    if (second.allreduce_single(send_buf(1), op(std::plus<>{})) == 2) ++copies;
    communicator third = std::move(second);
    try {
      second.barrier();
    } catch (const usage_error&) {
      ++rejected;
    }
    third.barrier();
  });
  EXPECT_EQ(copies, 4);
  EXPECT_EQ(rejected, 2);
}

INSTANTIATE_TEST_SUITE_P(calls, cached_call,
                         testing::Values(one_way{"fibers", 2, 1}, one_way{"fibers", 5, 7},
                                         one_way{"fibers", 8, 3000}, one_way{"fibers", 8, 20000},
                                         one_way{"threads", 2, 1}, one_way{"threads", 3, 3000}));

}  // namespace
}  // namespace tutti
