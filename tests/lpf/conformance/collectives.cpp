// SPDX-License-Identifier: Apache-2.0
//
// Tests the collectives over all processes: each alone with many shapes, several at once beside
// puts and gets, and the limits of an object.
#include <algorithm>
#include <limits>

#include "collective_job.hpp"

namespace {

using namespace suite;

std::vector<unsigned> roots_of(unsigned p) {
  if (p <= 8) {
    std::vector<unsigned> all(p);
    for (unsigned i = 0; i < p; ++i) all[i] = i;
    return all;
  }
  return {0, 1, p / 2, p - 1};
}

std::vector<shape> selected_of(const std::vector<shape>& all, unsigned p) {
  std::vector<shape> some;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_selected(i) && (p <= 100 || i % 3 == 0)) some.push_back(all[i]);
  return some;
}

// Resizes to enough slots and messages for any batch of jobs.
void resize_for_jobs(const process& me) { me.resize(200, 8 * me.p + 8); }

void all_transfer_shapes(const process& me) {
  resize_for_jobs(me);
  const team all = make_team(me, 1, 0, 1000);
  std::vector<std::size_t> sizes = {0, 1, 3, 8};
  if (me.p <= 33) sizes.push_back(1000);
  std::vector<shape> shapes;
  for (const kind k : {kind::broadcast, kind::gather, kind::scatter})
    for (const std::size_t n : sizes)
      for (const unsigned root : roots_of(me.p))
        for (const unused_area unused : {unused_area::full, unused_area::empty, unused_area::invalid})
          for (const bool in_place : {false, true})
            if (unused == unused_area::full || !in_place) {
              shape s{.what = k, .size = n, .root = root, .in_place = in_place, .unused = unused};
              s.local = shapes.size() % 2 == 1;
              shapes.push_back(s);
            }
  for (const std::size_t n : sizes)
    for (const bool local : {false, true}) {
      shapes.push_back({.what = kind::allgather, .size = n, .local = local});
      shapes.push_back({.what = kind::allgather, .size = n, .exclude = true, .local = local});
      shapes.push_back({.what = kind::allgather, .size = n, .in_place = true, .local = local});
      shapes.push_back({.what = kind::alltoall, .size = n, .local = local});
    }
  one_by_one(me, all, selected_of(shapes, me.p));
  end_team(me, all);
}

void all_reduction_shapes(const process& me) {
  resize_for_jobs(me);
  const team all = make_team(me, 1, 1000, 64000);
  const std::size_t p = me.p;
  std::vector<std::size_t> nums = {0, 1, p - 1, p, p + 1, 2 * p + 1, 7};
  if (me.p <= 33) nums.push_back(1000);
  std::sort(nums.begin(), nums.end());
  nums.erase(std::unique(nums.begin(), nums.end()), nums.end());
  std::vector<shape> shapes;
  for (const std::size_t n : element_sizes) {
    if (n == 1000 && me.p > 33) continue;
    for (const unsigned root : roots_of(me.p))
      shapes.push_back({.what = kind::reduce, .size = n, .root = root});
    shapes.push_back({.what = kind::allreduce, .size = n});
    if (n == 1000) continue;
    for (const std::size_t num : nums) {
      for (const unsigned root : roots_of(me.p))
        shapes.push_back({.what = kind::combine, .size = n, .num = num, .root = root});
      shapes.push_back({.what = kind::allcombine, .size = n, .num = num});
    }
  }
  shapes = selected_of(shapes, me.p);
  // Small collectives, up to 40 bytes, may use another path.
  for (const unsigned root : roots_of(me.p))
    for (const std::size_t n : {40, 41})
      shapes.push_back({.what = kind::combine, .size = 1, .num = n, .root = root});
  for (const std::size_t n : {5, 6}) shapes.push_back({.what = kind::allcombine, .size = 8, .num = n});
  // These shapes failed in the first implementation.
  shapes.push_back({.what = kind::allcombine, .size = 24, .num = 1});
  shapes.push_back({.what = kind::combine, .size = 24, .num = 6, .root = me.p - 1});
  one_by_one(me, all, shapes);
  end_team(me, all);
}

void nothing_to_reduce(const process& me) {
  resize_for_jobs(me);
  const team all = make_team(me, 1, 0, 0);
  std::vector<shape> shapes;
  for (int again = 0; again < 3; ++again)
    for (const kind k : kinds) shapes.push_back({.what = k, .size = 0, .num = 4, .root = me.p - 1});
  combine_at_most(0);
  one_by_one(me, all, shapes);
  end_team(me, all);
}

void large(const process& me) {
  resize_for_jobs(me);
  constexpr std::size_t mega = 1 << 20;
  const team all = make_team(me, 4, mega, mega);
  const unsigned last = me.p - 1;
  const std::vector<shape> shapes = {{.what = kind::broadcast, .size = mega, .root = last},
                                     {.what = kind::broadcast, .size = mega - 1, .root = 0, .in_place = true},
                                     {.what = kind::gather, .size = mega / 4 + 1, .root = last},
                                     {.what = kind::scatter, .size = mega / 4 + 1, .root = last},
                                     {.what = kind::allgather, .size = mega / 8 + 1},
                                     {.what = kind::allgather, .size = mega / 8 + 1, .in_place = true},
                                     {.what = kind::alltoall, .size = mega / 8 + 1},
                                     {.what = kind::reduce, .size = mega, .root = last},
                                     {.what = kind::allreduce, .size = mega},
                                     {.what = kind::combine, .size = 24, .num = mega / 24, .root = last},
                                     {.what = kind::allcombine, .size = 8, .num = mega / 8},
                                     {.what = kind::allcombine, .size = 1, .num = mega - 1}};
  for (const shape& s : shapes) one_by_one(me, all, {s});
  all_at_once(me, all, {shapes[0], shapes[4], shapes[6], shapes[10]});
  end_team(me, all);
}

std::vector<shape> one_call_of_each(unsigned p, std::size_t turn) {
  std::vector<shape> shapes;
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    shape s{
        .what = kinds[(i + turn) % std::size(kinds)], .size = element_sizes[(i + turn) % 4], .num = 5 + turn};
    s.root = static_cast<unsigned>((i + 2 * turn) % p);
    s.unused = static_cast<unused_area>((i + turn) % 3);
    shapes.push_back(s);
  }
  return shapes;
}

// The maximum number of calls on two objects, beside puts and gets that arrive in the same sync.
// One further call does nothing.
void several_at_once(const process& me) {
  me.resize(200, 200 * me.p);
  for (std::size_t turn = 0; turn < (me.p > 16 ? 2 : 6 / thinning() + 1); ++turn) {
    const std::vector<shape> shapes = one_call_of_each(me.p, turn);
    const team a = make_team(me, shapes.size(), 24, 1000), b = make_team(me, 2, 24, 1000);
    std::vector<std::unique_ptr<job>> jobs, beyond;
    for (const shape& s : shapes)
      jobs.push_back(std::make_unique<job>(me, jobs.size() % 4 == 3 ? b : a, s, jobs.size()));
    jobs.push_back(std::make_unique<job>(me, a, shapes[0], 50));
    jobs.push_back(std::make_unique<job>(me, a, shapes[4], 51));
    for (const shape& s : shapes) beyond.push_back(std::make_unique<job>(me, b, s, 60 + beyond.size()));
    for (auto& j : jobs) j->register_slots();
    for (auto& j : beyond) j->register_slots();
    guarded memory(2048);
    write_text(memory.data(), me.pid, 1024);
    lpf_memslot_t g;
    me.needs(lpf_register_global(me.ctx, memory.data(), memory.size(), &g), "lpf_register_global");
    me.sync();
    combine_at_most(20);
    const unsigned next = (me.pid + 1) % me.p, before = (me.pid + me.p - 1) % me.p;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i == 3) me.needs(lpf_put(me.ctx, g, 0, next, g, 1024, 512, LPF_MSG_DEFAULT), "lpf_put");
      if (i == 5) me.needs(lpf_get(me.ctx, next, g, 512, g, 1536, 512, LPF_MSG_DEFAULT), "lpf_get");
      jobs[i]->begin();
    }
    for (auto& j : beyond)
      me.returns(j->call(), LPF_ERR_OUT_OF_MEMORY, "one call more than max_calls: collective");
    me.sync();
    for (auto& j : jobs) j->verify();
    for (auto& j : beyond) j->verify(false);
    bytes wanted(2048);
    write_text(wanted.data(), me.pid, 1024);
    write_text(wanted.data() + 1024, before, 512);
    for (std::size_t i = 0; i < 512; ++i) wanted[1536 + i] = byte_of_text(next, 512 + i);
    me.equal(memory.data(), wanted.data(), 2048, "a put and a get beside collectives");
    me.sync();
    for (auto& j : beyond) j->verify(false);
    for (auto& j : jobs) j->deregister_slots();
    for (auto& j : beyond) j->deregister_slots();
    me.needs(lpf_deregister(me.ctx, g), "lpf_deregister");
    end_team(me, a);
    end_team(me, b);
  }
}

// A call beyond max_elem_size or max_byte_size has no effect, and other calls continue. The same
// holds if num * size overflows.
void limits(const process& me) {
  resize_for_jobs(me);
  const team all = make_team(me, 3, 8, 100), tiny = make_team(me, 3, 0, 0);
  constexpr std::size_t max_size = std::numeric_limits<std::size_t>::max();
  std::vector<shape> beyond;
  for (const kind k : {kind::broadcast, kind::gather, kind::scatter, kind::allgather, kind::alltoall})
    beyond.push_back({.what = k, .size = 101});
  for (const kind k : {kind::reduce, kind::allreduce}) beyond.push_back({.what = k, .size = 24});
  for (const kind k : {kind::combine, kind::allcombine}) beyond.push_back({.what = k, .size = 24, .num = 5});
  std::vector<shape> within;
  for (const kind k : {kind::broadcast, kind::gather, kind::scatter, kind::allgather, kind::alltoall})
    within.push_back({.what = k, .size = 100});
  for (const kind k : {kind::reduce, kind::allreduce}) within.push_back({.what = k, .size = 8});
  for (const kind k : {kind::combine, kind::allcombine}) within.push_back({.what = k, .size = 1, .num = 100});
  std::vector<std::unique_ptr<job>> jobs;
  for (const shape& s : beyond) jobs.push_back(std::make_unique<job>(me, all, s, jobs.size()));
  for (const shape& s : within) jobs.push_back(std::make_unique<job>(me, all, s, jobs.size()));
  std::vector<std::unique_ptr<job>> none;
  for (const kind k : kinds) none.push_back(std::make_unique<job>(me, tiny, shape{.what = k, .size = 1}, 40));
  guarded element(64);
  lpf_memslot_t e;
  for (auto& j : jobs) j->register_slots();
  for (auto& j : none) j->register_slots();
  me.needs(lpf_register_global(me.ctx, element.data(), 64, &e), "lpf_register_global");
  me.sync();
  combine_at_most(100);
  const auto never = [](std::size_t, const void*, void*) { std::abort(); };
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    me.returns(jobs[i]->call(), LPF_ERR_OUT_OF_MEMORY, text_of(beyond[i]) + " beyond the limit");
    me.returns(none[i]->call(), LPF_ERR_OUT_OF_MEMORY, "beyond a limit of 0");
    jobs[beyond.size() + i]->begin();
    for (const std::size_t num : {max_size, max_size / 8 + 2, std::size_t{1} << 61}) {
      me.returns(lpf_combine(all.coll, element.data(), e, num, 8, never, 0), LPF_ERR_OUT_OF_MEMORY,
                 "combine of num * 8 that wraps");
      me.returns(lpf_allcombine(all.coll, element.data(), e, 8, num, never), LPF_ERR_OUT_OF_MEMORY,
                 "allcombine of 8 * size that wraps");
    }
    for (const std::size_t size : {max_size, max_size / (me.p + 1) + 1}) {
      me.returns(lpf_allgather(all.coll, e, e, size, false), LPF_ERR_OUT_OF_MEMORY,
                 "allgather of p * size that wraps");
      me.returns(lpf_gather(all.coll, e, e, size, 0), LPF_ERR_OUT_OF_MEMORY, "gather of p * size that wraps");
    }
    me.sync();
    for (auto& j : none) j->verify(false);
    jobs[i]->verify(false);
    jobs[beyond.size() + i]->verify();
    me.sync();
  }
  for (auto& j : jobs) j->deregister_slots();
  for (auto& j : none) j->deregister_slots();
  end_team(me, all);
  end_team(me, tiny);
}

// A collective that syncs internally would empty the queue, and a resize would take effect.
void no_hidden_sync(const process& me) {
  if (suite::in_checked_mode()) return;
  me.resize(200, 2 * me.p + 2);
  const team all = make_team(me, 9, 24, 1000);
  const std::vector<shape> shapes = one_call_of_each(me.p, 1);
  std::vector<std::unique_ptr<job>> jobs;
  for (const shape& s : shapes) jobs.push_back(std::make_unique<job>(me, all, s, jobs.size()));
  for (auto& j : jobs) j->register_slots();
  guarded memory(16);
  lpf_memslot_t g;
  me.needs(lpf_register_global(me.ctx, memory.data(), 16, &g), "lpf_register_global");
  me.sync();
  combine_at_most(20);
  for (unsigned k = 0; k < 2 * me.p + 2; ++k)
    me.needs(lpf_put(me.ctx, g, 0, me.pid, g, 8, 1, LPF_MSG_DEFAULT), "lpf_put");
  me.needs(lpf_resize_message_queue(me.ctx, 4 * me.p + 4), "lpf_resize_message_queue");
  for (auto& j : jobs) {
    lpf_err_t end = j->call();
    // A collective may use the queue, but the queue is available in the next superstep in any case.
    me.check(end == LPF_SUCCESS || end == LPF_ERR_OUT_OF_MEMORY, "a collective beside a full queue");
    me.returns(lpf_put(me.ctx, g, 0, me.pid, g, 8, 1, LPF_MSG_DEFAULT), LPF_ERR_OUT_OF_MEMORY,
               "put after a collective with a full queue");
  }
  me.sync();
  for (auto& j : jobs) j->deregister_slots();
  end_team(me, all);
}

// Three objects over the same processes. Each process uses them in another order. Only calls on one
// object have a common order.
void any_order(const process& me) {
  me.resize(200, 64 * me.p);
  team t[3];
  for (team& one : t) one = make_team(me, 9, 24, 1000);
  dice order(me.pid + 1);
  for (std::size_t turn = 0; turn < (me.p > 16 ? 3 : 20 / thinning()); ++turn) {
    std::vector<std::unique_ptr<job>> jobs[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const std::vector<shape> shapes = one_call_of_each(me.p, turn + 2 * k);
      for (std::size_t i = 0; i < 4; ++i)
        jobs[k].push_back(std::make_unique<job>(
            me, t[k],
            turn % 2 == 0 ? shapes[(turn + i) % 9]
                          : shape{.what = i % 2 == 0 ? kind::allreduce : kind::reduce, .size = 8},
            10 * k + i));
    }
    for (auto& list : jobs)
      for (auto& j : list) j->register_slots();
    me.sync();
    combine_at_most(100);
    std::size_t done[3] = {0, 0, 0};
    for (int n = 0; n < 12;) {
      const std::size_t k = order.below(3);
      if (done[k] == 4) continue;
      jobs[k][done[k]++]->begin();
      ++n;
    }
    me.sync();
    for (auto& list : jobs)
      for (auto& j : list) {
        j->verify();
        j->deregister_slots();
      }
    me.sync();
  }
  for (const team& one : t) end_team(me, one);
}

// Each object occupies one entry of the register until it is destroyed. mistakes.cpp tests numbers
// of destroyed objects.
void create_and_destroy(const process& me) {
  me.resize(4, 4 * me.p);
  const int times = me.p > 16 ? 5 : 100 / static_cast<int>(thinning());
  for (int k = 0; k < times; ++k) {
    team t[4];
    for (team& one : t) one = make_team(me, 2, 8, 64);
    for (const team& one : t)
      me.check(lpf_collectives_get_context(one.coll) == me.ctx, "the context of an object");
    lpf_coll_t more = LPF_INVALID_COLL;
    me.returns(lpf_collectives_init(me.ctx, me.pid, me.p, 1, 8, 8, &more), LPF_ERR_OUT_OF_MEMORY,
               "lpf_collectives_init with a full register");
    end_team(me, t[1]);
    end_team(me, t[3]);
    job j(me, k % 2 == 0 ? t[0] : t[2], {.what = kinds[static_cast<std::size_t>(k) % 9], .size = 8, .num = 3},
          1);
    j.register_slots();
    me.sync();
    combine_at_most(3);
    j.begin();
    me.sync();
    j.verify();
    j.deregister_slots();
    end_team(me, t[0]);
    end_team(me, t[2]);
    me.sync();
  }
  me.check(lpf_collectives_get_context(LPF_INVALID_COLL) == LPF_NONE, "the context of LPF_INVALID_COLL");
}

// After every sync one call is possible again, whatever the last call was.
void capacity_returns(const process& me) {
  resize_for_jobs(me);
  const team all = make_team(me, 1, 24, 24), alone = make_team(me, me.pid, me.pid + 1, 1, 1, 24, 24);
  guarded area(24 * me.p), into(24 * me.p);
  lpf_memslot_t a, b;
  me.needs(lpf_register_global(me.ctx, area.data(), area.size(), &a), "lpf_register_global");
  me.needs(lpf_register_global(me.ctx, into.data(), into.size(), &b), "lpf_register_global");
  me.sync();
  const auto ignore = [](std::size_t, const void*, void*) {};
  for (int k = 0; k < 12; ++k) {
    const std::size_t size = k % 3 == 0 ? 4 : 0;
    for (const team& t : {all, alone}) switch (k % 6) {
        case 0:
          me.needs(lpf_broadcast(t.coll, a, b, size, 0), "lpf_broadcast");
          break;
        case 1:
          me.needs(lpf_gather(t.coll, a, b, size, 0), "lpf_gather");
          break;
        case 2:
          me.needs(lpf_alltoall(t.coll, a, b, size), "lpf_alltoall");
          break;
        case 3:
          me.needs(lpf_allgather(t.coll, a, b, size, true), "lpf_allgather");
          break;
        case 4:
          me.needs(lpf_allreduce(t.coll, area.data(), a, size, ignore), "lpf_allreduce");
          break;
        case 5:
          me.needs(lpf_allcombine(t.coll, area.data(), a, 0, 8, ignore), "lpf_allcombine");
          break;
      }
    me.sync();
  }
  end_team(me, all);
  end_team(me, alone);
}

constexpr suite::entry every[] = {
    {"all_transfer_shapes", all_transfer_shapes}, {"all_reduction_shapes", all_reduction_shapes},
    {"nothing_to_reduce", nothing_to_reduce},     {"large", large, 8},
    {"several_at_once", several_at_once},         {"limits", limits},
    {"no_hidden_sync", no_hidden_sync},           {"any_order", any_order},
    {"create_and_destroy", create_and_destroy},   {"capacity_returns", capacity_returns},
};

}  // namespace

const std::span<const suite::entry> suite::tests(every);
