// SPDX-License-Identifier: Apache-2.0
//
// Tests features of the step set that current algorithms do not use: one-sided operations,
// pipelines by segments, loops, rendezvous with many messages at once. Also tests that memory stays
// small at large p.
#include "runtime/executor/executor.hpp"

#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/algorithm.hpp"
#include "schedule/builder.hpp"
#include "support/check.hpp"
#include "support/ranks.hpp"
#include "tutti/layout.hpp"

namespace tutti::detail {
namespace {

using tests::check;
using tests::job;
using tests::passes;

call plain_call(std::vector<int>& in, std::vector<int>& out, std::size_t count) {
  call c;
  c.what = collective::alltoall;
  c.type = element_of<int>();
  c.count = count;
  c.input = in.data();
  c.output = out.data();
  return c;
}

// Every rank puts its block into the memory of all others and signals; there are no receives.
void put_everywhere(endpoint& ep, std::size_t count) {
  const int p = ep.size(), r = ep.rank();
  auto where = ep.open(group::range(0, 1, p, r), 1, nullptr);
  links peers(*where);
  builder b;
  for (int s = 0; s < p; ++s) {
    if (s == r) continue;
    b.put(s, block(buffer::input, s), block(buffer::output, r));
    b.signal(s);
    b.await_signal(s);
  }
  b.copy(block(buffer::input, r), block(buffer::output, r));
  bound_schedule bound("test/put", b.finish(), *where, peers);
  const auto n = static_cast<std::size_t>(p) * count;
  std::vector<int> in(n), out(n, -1);
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::iota(in.begin(), in.end(), r * 100000 + static_cast<int>(round));
    const call c = plain_call(in, out, count);
    schedule_run one;
    one.begin(bound, c, round);
    one.advance(true);
    for (int s = 0; s < p; ++s)
      for (std::size_t i = 0; i < count; ++i)
        check.that(out[static_cast<std::size_t>(s) * count + i] ==
                       s * 100000 + static_cast<int>(round) +
                           static_cast<int>(static_cast<std::size_t>(r) * count + i),
                   "a put went astray");
  }
}

TEST(executor, reports_name_no_algorithm_of_exchanges_before_a_call) {
  call c;
  c.label = "neighbor_allgather";
  EXPECT_STREQ(reported_algorithm(c, "neighbor_allgatherv/linear"), "neighbor_allgatherv/linear");
  c.label = "allgatherv";
  for (const std::uint16_t one : {std::uint16_t{1}, call::before_call}) {
    c.on_behalf = one;
    EXPECT_STREQ(reported_algorithm(c, "allgather/ring"), "an exchange before it");
  }
}

TEST(one_sided_steps, deliver_small_and_large_puts) {
  for (const std::size_t count : {1, 100, 5000}) {
    for (const int p : {1, 2, 3, 7}) {
      const auto program = [&](endpoint& ep) { put_everywhere(ep, count); };
      EXPECT_TRUE(passes(job{"fibers", p, 2}, program));
      EXPECT_TRUE(passes(job{"threads", p}, program));
    }
  }
}

// A chain: segment i is received while segment i - 1 is sent on. Segments outside the block are
// omitted on both sides.
void pipeline(endpoint& ep, std::size_t count, std::size_t segment_size) {
  const int p = ep.size(), r = ep.rank();
  auto where = ep.open(group::range(0, 1, p, r), 1, nullptr);
  links peers(*where);
  builder b;
  b.segments_of(segment_size);
  const place data = whole(r == 0 ? buffer::input : buffer::output);
  b.loop(trip_count{1, 1}, [&] {
    if (r > 0) b.recv(r - 1, segment(data, at(0, 1)));
    if (r + 1 < p) b.send(r + 1, segment(data, at(r == 0 ? 0 : -1, 1)));
  });
  bound_schedule bound("test/chain", b.finish(), *where, peers);
  std::vector<int> in(count), out(count, -1);
  std::iota(in.begin(), in.end(), 7);
  call c = plain_call(in, out, count);
  c.what = collective::bcast;
  schedule_run one;
  one.begin(bound, c, 0);
  one.advance(true);
  if (r > 0) check.that(out == in, "a segment is missing");
}

TEST(segments, make_a_pipeline_of_any_length) {
  for (const std::size_t count : {0, 1, 7, 1000, 9999})
    for (const std::size_t bytes : {1, 4, 64, 1000, 20000, 1000000})
      for (const int p : {1, 2, 5}) {
        EXPECT_TRUE(passes(job{"fibers", p, 2}, [&](endpoint& ep) { pipeline(ep, count, bytes); }))
            << " count " << count << " segment " << bytes;
      }
}

TEST(schedules, stay_small_at_large_p) {
  for (const pure_algorithm* a : catalogue()) {
    // Their rounds or their tables grow with p: they walk trees over all ranks in depth, with each
    // rank as a source.
    if (a->name == "allgatherv/circulant" || a->short_name() == "pat") continue;
    shape s;
    s.size = 65536;
    s.rank = 65535;
    s.root = 0;
    s.what = a->what;
    s.parameter_values = a->default_values();
    s.in_place = has_restriction(a->restrictions, restriction::in_place);
    s.first_group = has_restriction(a->restrictions, restriction::inter) ? s.size - 1 : 0;
    builder b;
    a->write(s, b);
    const schedule made = b.finish();
    EXPECT_LT(made.memory(), 64u * 1024) << a->name;
  }
}

TEST(channels, keep_messages_of_another_call_as_unexpected) {
  EXPECT_TRUE(passes(job{"fibers", 2, 1}, [](endpoint& ep) {
    shm::channel& c = ep.node()->between(0, 1);
    std::atomic<std::uint32_t> done{1};
    if (ep.rank() == 0) {
      for (int i = 0; i < 6; ++i) c.post(static_cast<std::uint64_t>(i % 3), &i, sizeof i, &done);
      return;
    }
    shm::wait_site site;
    for (const int tag : {2, 0, 1})
      for (int k = 0; k < 2; ++k) {
        shm::arrival a;
        while (!c.find(static_cast<std::uint64_t>(tag), a))
          ep.wait(c.published_word(), c.published_value(), true, site);
        int value = 0;
        std::memcpy(&value, a.data, sizeof value);
        c.consume(a);
        check.that(value == tag + 3 * k, "messages of one tag changed places");
      }
  }));
}

TEST(layouts, pack_and_unpack_leave_gaps_alone) {
  const layout v = layout::vector(3, 2 * sizeof(int), 5 * sizeof(int)).resized(16 * sizeof(int));
  EXPECT_EQ(v.size(), 6 * sizeof(int));
  EXPECT_FALSE(v.is_contiguous());
  std::vector<int> items(32);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> dense(12, -1), back(32, -1);
  v.pack(items.data(), 2, dense.data());
  EXPECT_EQ(dense, (std::vector<int>{0, 1, 5, 6, 10, 11, 16, 17, 21, 22, 26, 27}));
  v.unpack(dense.data(), 2, back.data());
  for (std::size_t i = 0; i < back.size(); ++i) {
    const std::size_t in_item = i % 16;
    const bool sent = in_item < 12 && in_item % 5 < 2;
    EXPECT_EQ(back[i], sent ? static_cast<int>(i) : -1) << i;
  }
  EXPECT_TRUE(layout::contiguous(24).is_contiguous());
  EXPECT_TRUE(layout::vector(4, 8, 8).is_contiguous());
}

}  // namespace
}  // namespace tutti::detail
