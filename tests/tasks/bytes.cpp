// SPDX-License-Identifier: Apache-2.0
//
// Tests the exact numbers of bytes and messages sent: by a few programs with hand-written
// expectations, and by random programs with a model (bytes/model.hpp).
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "bytes/model.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace tasks = tutti::tasks;
using tests::check;
using tutti::communicator;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
using block = std::span<std::byte>;
constexpr auto look = [](std::span<const std::byte>) {};
constexpr auto touch = [](block) {};

struct totals {
  bytes::model::table sent, messages;
  std::uint64_t hits = 0;
};
// Totals over all ranks, when no operation is in progress.
totals seen(const communicator& world, tasks::runtime& rt) {
  rt.wait_all();
  rt.barrier();  // all requested contributions have been sent
  const auto s = rt.statistics();
  const auto gathered = [&](const std::vector<std::uint64_t>& row) {
    const auto flat = world.allgather(tutti::send_buf(row));
    bytes::model::table t;
    for (int r = 0; r < world.size(); ++r)
      t.emplace_back(flat.begin() + r * world.size(), flat.begin() + (r + 1) * world.size());
    return t;
  };
  return {gathered(s.bytes_sent), gathered(s.messages_sent),
          world.allreduce_single(tutti::send_buf(s.cache_hits), tutti::op(std::plus<>{}))};
}

// --- hand-written programs
struct two_ranks {  // rank 0 owns 100 bytes, and the last rank reads them
  explicit two_ranks(const communicator& all, const tasks::options& how = {})
      : world(all), rt(all, how), last(rt.size() - 1), h(rt.data<block>(0, 100)) {}
  void read(int times) {
    for (int i = 0; i < times; ++i) rt.insert(look, tasks::read(h), tasks::on(last));
  }
  void expect(std::uint64_t there, std::uint64_t back, std::uint64_t hits) {
    const totals t = seen(world, rt);
    if (last == 0) there = back = hits = 0;
    check.equal(t.sent[0][at(last)], there);
    check.equal(t.sent[at(last)][0], last == 0 ? there : back);
    check.equal(t.messages[0][at(last)], there / 100);
    check.equal(t.hits, hits);
    check.equal(bytes::model::all(t.sent), last == 0 ? 0 : there + back);  // no other traffic
  }
  const communicator& world;
  tasks::runtime rt;
  int last;
  tasks::handle<block> h;
};

void cache_on(communicator& world) {
  two_ranks t(world);
  t.read(5);
  t.expect(100, 0, 4);
  t.rt.insert(touch, tasks::read_write(t.h));
  t.read(3);
  t.expect(200, 0, 6);
  t.rt.wait_all();
  t.read(1);
  t.expect(200, 0, 7);
}
void cache_off(communicator& world) {
  two_ranks t(world, {.cache = false});
  t.read(5);
  t.expect(500, 0, 0);
  t.rt.cache(true);
  t.read(5);
  t.expect(600, 0, 4);
  t.rt.cache(true);  // as before: existing copies stay
  t.read(1);
  t.expect(600, 0, 5);
  t.rt.cache(false);
  t.read(2);
  t.expect(800, 0, 5);
}
void flushes(communicator& world) {
  two_ranks t(world);
  t.read(2);
  t.rt.flush(t.h);
  t.read(2);
  t.expect(200, 0, 2);
  t.rt.flush();
  t.read(2);
  t.expect(300, 0, 3);
}
void written_elsewhere(communicator& world) {
  two_ranks t(world);
  t.rt.insert(touch, tasks::write(t.h), tasks::on(t.last));  // only the result moves
  t.expect(0, 100, 0);
  t.read(2);  // the writer has the contents
  t.expect(0, 100, 2);
  t.rt.insert(touch, tasks::read_write(t.h), tasks::on(t.last));
  t.expect(0, 200, 3);
  t.rt.insert(touch, tasks::read_write(t.h));
  t.rt.insert(touch, tasks::read_write(t.h), tasks::on(t.last));
  t.expect(100, 300, 3);
}
void written_elsewhere_uncached(communicator& world) {
  two_ranks t(world, {.cache = false});
  t.rt.insert(touch, tasks::write(t.h), tasks::on(t.last));
  t.read(2);
  t.rt.insert(touch, tasks::read_write(t.h), tasks::on(t.last));
  t.expect(300, 200, 0);
}
void fetches(communicator& world) {
  two_ranks t(world);
  t.rt.fetch(t.h, t.last);
  t.rt.fetch(t.h, t.last);
  t.rt.fetch(t.h, 0);
  t.read(1);
  t.expect(100, 0, 2);
}
void contributions(communicator& world) {
  two_ranks t(world);
  const std::bit_or<> op;
  // The contributions are sent combined.
  for (int i = 0; i < 4; ++i) t.rt.insert(touch, tasks::reduce(t.h, op), tasks::on(t.last));
  t.expect(0, 100, 0);
  t.read(1);
  t.expect(100, 100, 0);
  t.rt.insert(touch, tasks::reduce(t.h, op));  // makes copies out of date
  t.read(1);
  t.expect(200, 100, 0);
}
void moved_owner(communicator& world) {
  two_ranks t(world);
  t.rt.set_rank(t.h, t.last);
  t.expect(0, 0, 0);
  t.rt.insert(touch, tasks::read_write(t.h));
  t.expect(100, 0, 0);
  t.rt.insert(look, tasks::read(t.h), tasks::on(0));
  t.expect(100, 100, 0);
  t.rt.set_rank(t.h, 0);  // rank 0 has the contents
  t.rt.insert(look, tasks::read(t.h), tasks::on(0));
  t.expect(100, 100, t.last > 0 ? 1 : 0);
}

// Three blocks of 100 bytes in a cache for two: the least recently used block is evicted.
void small_cache(communicator& world) {
  tasks::runtime rt(world, {.cache_bytes = 250});
  const int last = rt.size() - 1;
  std::vector<tasks::handle<block>> h;
  for (int i = 0; i < 3; ++i) h.push_back(rt.data<block>(0, 100));
  const auto large = rt.data<block>(0, 300);       // never stays
  for (const int i : {0, 1, 0, 2, 0, 1, 2, 2, 0})  // sent: 0, 1, 2, 1, 2, 0
    rt.insert(look, tasks::read(h[at(i)]), tasks::on(last));
  const totals t = seen(world, rt);
  check.equal(t.sent[0][at(last)], last == 0 ? 0u : 600u);
  check.equal(t.hits, last == 0 ? 0u : 3u);
  for (int i = 0; i < 2; ++i) rt.insert(look, tasks::read(large), tasks::on(last));
  check.equal(seen(world, rt).sent[0][at(last)], last == 0 ? 0u : 1200u);
  // The large block has evicted the others.
  rt.insert(look, tasks::read(h[0]), tasks::on(last));
  check.equal(seen(world, rt).sent[0][at(last)], last == 0 ? 0u : 1300u);
}

// A tree distributes data that many ranks read at once: each receives it once, from any rank.
void broadcast_tree(communicator& world) {
  for (const std::size_t n : {8u, 3000u, 100000u}) {
    tasks::runtime rt(world);
    const int p = rt.size();
    const auto h = rt.data<block>(p / 2, n);
    for (int round = 1; round <= 3; ++round) {
      rt.insert(touch, tasks::read_write(h));
      for (int again = 0; again < 2; ++again)
        for (int r = 0; r < p; ++r) rt.insert(look, tasks::read(h), tasks::on(r));
      const totals t = seen(world, rt);
      for (int r = 0; r < p; ++r) {
        check.equal(bytes::model::to(t.sent, r), r == p / 2 ? 0 : n * at(round));
        check.equal(bytes::model::to(t.messages, r), r == p / 2 ? 0u : at(round));
      }
      check.equal(t.hits, at(round * (p - 1)));
    }
  }
}

// From the root to the owners and back, whichever rank has the contents. Short data use a tree and
// are sent once per level.
void scatter_and_gather(communicator& world) {
  const int p = world.size();
  for (const std::size_t n : {10u, 2000u})
    for (const int root : {0, p - 1}) {
      tasks::runtime rt(world);
      bytes::model right(p, true, std::size_t{64} << 20);
      std::vector<std::byte> all(n * at(p));
      std::vector<tasks::handle<block>> h;
      std::vector<int> list;
      for (int r = 0; r < p; ++r) {
        h.push_back(rt.rank() == root ? rt.data(std::span(all).subspan(n * at(r), n), r)
                                      : rt.data<block>(r, n));
        list.push_back(right.add(n, r));
      }
      const auto expect = [&](std::size_t times_to_root, std::size_t times_from_root) {
        const totals t = seen(world, rt);
        check.equal(t.sent, right.sent());
        if (p > 3 && n <= 1024) return;
        for (int r = 0; r < p; ++r) {
          check.equal(t.sent[at(root)][at(r)], r == root ? 0 : n * times_from_root);
          check.equal(t.sent[at(r)][at(root)], r == root ? 0 : n * times_to_root);
        }
      };
      for (std::size_t i = 0; i < 3; ++i) {
        rt.scatter(h, root);
        right.scatter(list, root);
        expect(i, i + 1);
        if (i == 1)  // only on owners, as in the original program
          rt.insert(touch, tasks::read_write(h[at(rt.rank())]));
        rt.gather(h, root);
        right.gather(list, root);
        expect(i + 1, i + 1);
      }
      for (int r = 0; r < p; ++r) rt.insert(look, tasks::read(h[at(r)]), tasks::on(root));
      for (int r = 0; r < p; ++r) right.task(root, {{r, 'r'}});
      expect(4, 3);
    }
}

// --- random programs, compared with the model
class random_program {
 public:
  random_program(const communicator& world, std::uint64_t seed)
      : world_(world),
        draw_(seed),
        p_(world.size()),
        how_{.cache = below(4) != 0, .cache_bytes = cache_limits[below(5)]},
        model_(p_, how_.cache, how_.cache_bytes),
        rt_(world, how_),
        reduces_(seed % 3 == 0) {
    for (int i = 2 + static_cast<int>(below(12)); i > 0; --i) {
      const std::size_t size = below(10) < 8 ? 1 + below(300) : 1 + below(9000);
      const int owner = any_rank();
      handles_.push_back(rt_.data<block>(owner, size));
      model_.add(size, owner);
    }
  }
  void run() {
    for (int part = 0; part < 4; ++part) {
      for (int i = 0; i < 60; ++i) step();
      compare();
    }
  }

 private:
  static constexpr std::size_t cache_limits[] = {0, 300, 1000, 5000, std::size_t{64} << 20};
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(draw_); }
  int any_rank() { return static_cast<int>(below(at(p_))); }
  int any_object() { return static_cast<int>(below(handles_.size())); }

  void step() {
    const int d = any_object(), e = any_object(), on = any_rank();
    auto& h = handles_[at(d)];
    switch (below(20)) {
      case 0:
        rt_.fetch(h, on);
        return model_.fetch(d, on);
      case 1:
        rt_.flush(h);
        return model_.flush(d);
      case 2:
        if (below(4) != 0) return;
        rt_.flush();
        return model_.flush();
      case 3: {
        if (below(3) != 0) return;
        const bool on = below(2) != 0;
        rt_.cache(on);
        return model_.cache(on);
      }
      case 4:
        rt_.set_rank(h, on);
        return model_.set_owner(d, on);
      case 5: {
        const auto [list, handles] = some();
        rt_.gather(handles, on);
        return model_.gather(list, on);
      }
      case 6:
        if (below(2) == 0) {  // gets another owner
          const int to = any_rank();
          rt_.set_rank(h, on);
          rt_.fetch(h, on);
          rt_.set_rank(h, to);
          model_.set_owner(d, on);
          model_.fetch(d, on);
          model_.set_owner(d, to);
        }
        if (!model_.has(d, on)) return;
        rt_.scatter(std::vector{h}, on);
        return model_.scatter({d}, on);
      case 7:
        if (reduces_) {
          rt_.insert(touch, tasks::reduce(h, std::bit_or<>{}), tasks::on(on));
          return model_.task(on, {{d, '+'}});
        }
        return;
      case 8:
        rt_.insert(touch, tasks::read_write(h));
        return model_.task(model_.owner(d), {{d, 'x'}});
      case 9:
        rt_.insert(touch, tasks::write(h), tasks::on(on));
        return model_.task(on, {{d, 'w'}});
      case 10:
        rt_.insert(touch, tasks::read_write(h), tasks::on(on));
        return model_.task(on, {{d, 'x'}});
      case 11:
      case 12:
        if (d == e) return;
        rt_.insert([](block, std::span<const std::byte>) {}, tasks::read_write(h),
                   tasks::read(handles_[at(e)]));
        return model_.task(model_.owner(d), {{d, 'x'}, {e, 'r'}});
      case 13:
        if (d == e) return;
        rt_.insert([](block, std::span<const std::byte>) {}, tasks::write(h), tasks::read(handles_[at(e)]),
                   tasks::on_owner_of(handles_[at(e)]));
        return model_.task(model_.owner(e), {{d, 'w'}, {e, 'r'}});
      default:
        rt_.insert(look, tasks::read(h), tasks::on(on));
        return model_.task(on, {{d, 'r'}});
    }
  }
  std::pair<std::vector<int>, std::vector<tasks::handle<block>>> some() {
    std::pair<std::vector<int>, std::vector<tasks::handle<block>>> all;
    for (int d = 0; d < static_cast<int>(handles_.size()); ++d)
      if (below(3) == 0) {
        all.first.push_back(d);
        all.second.push_back(handles_[at(d)]);
      }
    return all;
  }
  // Compares totals. Without reductions, compares also by receiver, and by pairs of ranks if there
  // are too few ranks for a tree.
  void compare() {
    const totals t = seen(world_, rt_);
    model_.wait_all();
    check.equal(t.hits, model_.hits());
    check.equal(bytes::model::all(t.sent), bytes::model::all(model_.sent()) + model_.contributed());
    if (reduces_) return;
    if (p_ <= 3) {
      check.equal(t.sent, model_.sent());
      check.equal(t.messages, model_.messages());
    }
    for (int r = 0; r < p_; ++r) {
      check.equal(bytes::model::to(t.sent, r), bytes::model::to(model_.sent(), r));
      if (!model_.packed())
        check.equal(bytes::model::to(t.messages, r), bytes::model::to(model_.messages(), r));
    }
  }

  const communicator& world_;
  std::mt19937_64 draw_;
  int p_;
  tasks::options how_;
  bytes::model model_;
  tasks::runtime rt_;
  bool reduces_;
  std::vector<tasks::handle<block>> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::pair<const char*, void (*)(communicator&)> by_hand[] = {
        {"cache_on", cache_on},
        {"cache_off", cache_off},
        {"flushes", flushes},
        {"written_elsewhere", written_elsewhere},
        {"written_elsewhere_uncached", written_elsewhere_uncached},
        {"fetches", fetches},
        {"contributions", contributions},
        {"moved_owner", moved_owner},
        {"small_cache", small_cache},
        {"broadcast_tree", broadcast_tree},
        {"scatter_and_gather", scatter_and_gather}};
    for (const auto& [name, one] : by_hand) cases(name, [&] { one(world); });
    const int seeds = world.size() > 16 ? 5 : 40;
    for (int seed = 1; seed <= seeds; ++seed)
      cases([&] { return "random/seed_" + std::to_string(seed); },
            [&] { random_program(world, static_cast<std::uint64_t>(seed)).run(); });
  });
}
