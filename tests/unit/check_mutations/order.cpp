// SPDX-License-Identifier: Apache-2.0
//
// Mutations of the order: adjacent rounds swapped or merged, and writes into a buffer that is being
// sent.
#include <bit>

#include "unit/check_mutations/subject.hpp"

namespace tutti::proof {
namespace {

bool share_a_direction(const traced_round& a, const traced_round& b) {
  for (const traced_step& x : a.steps)
    for (const traced_step& y : b.steps)
      if (!is_local(x.kind) && !is_local(y.kind) && x.peer == y.peer &&
          (x.kind == step_kind::send) == (y.kind == step_kind::send))
        return true;
  return false;
}

void mutate_order(const subject& s, int rank, tally& t) {
  abstract_machine machine;
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unmodified.recorded[static_cast<std::size_t>(rank)];
  const auto round_with = [&](const item& i) {
    for (const traced_round& r : rounds)
      for (const traced_step& one : r.steps)
        if (one.step >= i.first && one.step < i.first + i.sends + i.recvs + i.locals) return &r;
    return static_cast<const traced_round*>(nullptr);
  };
  const auto run = [&](const schedule& bad) {
    auto all = s.schedules;
    all[static_cast<std::size_t>(rank)] = bad;
    return machine.run(s.call, all);
  };
  for (std::size_t i = 0; i + 1 < good.items.size(); ++i) {
    if (good.items[i].kind != item_kind::round || good.items[i + 1].kind != item_kind::round) continue;
    const traced_round *first = round_with(good.items[i]), *second = round_with(good.items[i + 1]);
    if (first == nullptr || second == nullptr) continue;
    const bool dependent = collide(uses_of(s.call, rank, *first), uses_of(s.call, rank, *second));
    schedule swapped = good;
    std::swap(swapped.items[i], swapped.items[i + 1]);
    // Independent rounds may be swapped, unless a rank waits for their order.
    outcome o = run(swapped);
    const bool reordered = dependent || share_a_direction(*first, *second);
    ++(o.ok() ? t.equivalent : t.found);
    EXPECT_TRUE(!o.ok() || !reordered) << s.name << ", rank " << rank << ": rounds swapped at item " << i;
    // Merged: all transfers at once, then all local steps. Local steps of the first round then run
    // too late. So the rounds depend on each other if the second one transfers their data.
    schedule merged = good;
    const item a = good.items[i], b = good.items[i + 1];
    std::vector<step> steps;
    const auto append = [&](const item& from, std::uint32_t skip, std::uint32_t n) {
      const auto begin = good.steps.begin() + from.first + skip;
      steps.insert(steps.end(), begin, begin + n);
    };
    append(a, 0, a.sends);
    append(b, 0, b.sends);
    append(a, a.sends, a.recvs);
    append(b, b.sends, b.recvs);
    append(a, a.sends + a.recvs, a.locals);
    append(b, b.sends + b.recvs, b.locals);
    std::copy(steps.begin(), steps.end(), merged.steps.begin() + a.first);
    if (b.first != a.first + a.sends + a.recvs + a.locals) continue;
    merged.items[i].sends = a.sends + b.sends;
    merged.items[i].recvs = a.recvs + b.recvs;
    merged.items[i].locals = a.locals + b.locals;
    merged.items[i + 1] = item{};
    merged.items[i + 1].first = static_cast<std::uint32_t>(a.first + steps.size());
    // Places that the transfers of the second round access and the first round writes, or the
    // reverse.
    std::vector<use> early = uses_of(s.call, rank, *first), late;
    for (const traced_step& one : second->steps)
      if (!is_local(one.kind)) {
        const auto more = uses_of(s.call, rank, *second, static_cast<int>(one.step));
        late.insert(late.end(), more.begin(), more.end());
      }
    o = run(merged);
    ++(o.ok() ? t.equivalent : t.found);
    bool depends = collide(early, late);
    if (s.call.what == collective::barrier) {
      // In a barrier, a message states that its sender has heard from others. With a power of two,
      // every message of dissemination is necessary. With other numbers some are not, and then the
      // test expects nothing.
      if (!std::has_single_bit(static_cast<unsigned>(s.call.ranks))) continue;
      depends = true;
    }
    EXPECT_EQ(!o.ok(), depends) << s.name << ", rank " << rank << ": rounds merged at item " << i
                                << (o.ok() ? "" : ": " + o.faults[0].what);
  }
  for (const item& i : good.items) {
    if (i.kind != item_kind::round || i.sends == 0 || i.recvs == 0) continue;
    const traced_round* r = round_with(i);
    if (r == nullptr) continue;
    const auto sent =
        std::find_if(r->steps.begin(), r->steps.end(), [](auto& x) { return x.kind == step_kind::send; });
    const auto receive = std::find_if(r->steps.begin(), r->steps.end(), [](auto& x) {
      return x.kind == step_kind::recv || x.kind == step_kind::recv_reduce;
    });
    if (sent == r->steps.end() || receive == r->steps.end() || sent->source.count == 0) continue;
    schedule bad = good;
    bad.steps[receive->step].target = bad.steps[sent->step].source;
    const outcome o = run(bad);
    ++t.found;
    EXPECT_FALSE(o.ok()) << s.name << ", rank " << rank << ": receives into what it sends, step "
                         << receive->step;
  }
}

TEST_P(mutations, of_order_are_found) { everywhere(mutate_order); }

}  // namespace
}  // namespace tutti::proof
