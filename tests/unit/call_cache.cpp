// SPDX-License-Identifier: Apache-2.0
//
// Which calls match an entry of the cache of repeated calls, and what an entry holds for other
// counts.
#include "communicator/call_cache.hpp"

#include <gtest/gtest.h>

#include "schedule/builder.hpp"
#include "support/fake_engine.hpp"

namespace tutti::detail {
namespace {

void add(const void*, const void*, void*, std::size_t, void*) {}

struct a_call_cache : testing::Test {
  a_call_cache() {
    builder b;
    b.native();
    native.name = "allreduce/native";
    native.bound = std::make_unique<bound_schedule>(native.name, b.finish(), where, peers);
    composed.name = "allreduce/composed";
    ep.record.has_ready = true;
  }
  call allreduce(std::size_t count) {
    call c;
    c.what = collective::allreduce;
    c.type = element_of<double>();
    c.count = count;
    c.input = in;
    c.output = out;
    c.op = {add, nullptr, builtin_op::sum, true};
    return c;
  }
  static std::uint64_t key_of(const call& c) {
    return call_key(c.what, c.type, c.op.which, c.op.commutative, c.in_place);
  }

  double in[8] = {}, out[8] = {};
  tests::fake_endpoint ep{0, 2};
  tests::fake_context where{ep, group::range(0, 1, 2, 0), 1, ep.record};
  links peers{where};
  prepared_call native{}, composed{};
  call_cache cache;
};

TEST_F(a_call_cache, contains_nothing_at_first) {
  EXPECT_FALSE(cache.is_open());
  EXPECT_FALSE(cache.contains(allreduce(1)));
  EXPECT_STREQ(cache.entry(collective::allreduce).algorithm(), "");
  cache.forget_all();
  cache.open();
  EXPECT_TRUE(cache.is_open());
  EXPECT_FALSE(cache.contains(allreduce(1)));
}

TEST_F(a_call_cache, contains_the_last_call_of_a_collective) {
  cache.open();
  cache.store(allreduce(1), native, {}, nullptr, &where);
  EXPECT_TRUE(cache.contains(allreduce(1)));
  EXPECT_STREQ(cache.entry(collective::allreduce).algorithm(), "allreduce/native");
  EXPECT_EQ(cache.entry(collective::allreduce).prepared, &native);

  call other = allreduce(1);
  other.input = out + 4;  // another buffer is no difference
  EXPECT_TRUE(cache.contains(other));
  other.input = other.output;
  EXPECT_FALSE(cache.contains(other));
  other = allreduce(1);
  other.type = element_of<float>();
  EXPECT_FALSE(cache.contains(other));
  other = allreduce(1);
  other.op.commutative = false;
  EXPECT_FALSE(cache.contains(other));
  other = allreduce(1);
  other.algorithm = "ring";
  EXPECT_FALSE(cache.contains(other));
  other = allreduce(2);
  EXPECT_FALSE(cache.contains(other));
  other = allreduce(1);
  other.what = collective::reduce;
  EXPECT_FALSE(cache.contains(other));
  cache.forget_all();
  EXPECT_FALSE(cache.contains(allreduce(1)));
}

TEST_F(a_call_cache, does_not_repeat_calls_that_must_be_checked) {
  cache.open();
  EXPECT_FALSE(cache.store(allreduce(1), native, {.compared = true}, nullptr, &where).repeatable);
  call named = allreduce(1);
  named.algorithm = "ring";
  EXPECT_FALSE(cache.store(named, native, {}, nullptr, &where).repeatable);
  const cached_call& traced = cache.store(allreduce(1), native, {.traced = true}, nullptr, &where);
  EXPECT_TRUE(traced.repeatable);
  EXPECT_FALSE(traced.fast_path);
  EXPECT_EQ(traced.key, no_call_key);
}

TEST_F(a_call_cache, gives_a_key_to_calls_between_two_buffers) {
  cache.open();
  const call c = allreduce(1);
  const cached_call& r = cache.store(c, native, {}, nullptr, &where);
  EXPECT_EQ(r.key, key_of(c));
  EXPECT_EQ(&r, &cache.entry_of_key(r.key));
  EXPECT_NE(r.ready_function, nullptr);
  EXPECT_EQ(r.ready_key, r.key);
  EXPECT_EQ(cache.store(c, native, {.inter = true}, nullptr, &where).key, no_call_key);
  call labeled = c;
  labeled.label = "sync";
  EXPECT_EQ(cache.store(labeled, native, {}, nullptr, &where).key, no_call_key);
  call half = c;
  half.input = nullptr;
  EXPECT_EQ(cache.store(half, native, {}, nullptr, &where).key, no_call_key);
  call same = c;  // run_cached() does not compare the addresses
  same.input = same.output;
  EXPECT_EQ(cache.store(same, native, {}, nullptr, &where).key, no_call_key);
  same.in_place = true;
  EXPECT_NE(cache.store(same, native, {}, nullptr, &where).key, no_call_key);
}

TEST_F(a_call_cache, uses_the_shortest_path) {
  cache.open();
  EXPECT_EQ(cache.store(allreduce(1), native, {}, nullptr, &where).path, call_path::native);
  EXPECT_EQ(cache.store(allreduce(1), native, {}, add, &where).path, call_path::executor);
  EXPECT_EQ(cache.store(allreduce(1), composed, {}, nullptr, &where).path, call_path::executor);
  // The engine's function serves 100 elements.
  EXPECT_EQ(cache.store(allreduce(101), native, {}, nullptr, &where).ready_function, nullptr);
  EXPECT_EQ(cache.entry(collective::allreduce).ready_key, no_call_key);
}

TEST_F(a_call_cache, serves_other_counts_of_a_stored_interval) {
  cache.open();
  cached_call& r = cache.store(allreduce(4), native, {}, nullptr, &where);
  EXPECT_TRUE(cache.repeats_head(allreduce(5)));
  EXPECT_FALSE(r.try_set_count(5));
  EXPECT_EQ(cache.intervals_of(allreduce(4)), nullptr);

  count_intervals& all = cache.add_intervals(allreduce(4), {1000, 0, 10, 10});
  ASSERT_EQ(all.all.size(), 4u);  // 0, 1 to 10, 11 to 1000, and above
  EXPECT_EQ(cache.intervals_of(allreduce(77)), &all);
  call_cache::use_intervals(r, all, sizeof(double));
  EXPECT_TRUE(cache.contains(allreduce(7)));
  EXPECT_EQ(r.count, 7u);
  EXPECT_FALSE(cache.contains(allreduce(0)));
  EXPECT_FALSE(cache.contains(allreduce(11)));  // there was no call of that interval

  call_cache::use_intervals(cache.store(allreduce(500), composed, {}, add, &where), all, sizeof(double));
  EXPECT_TRUE(cache.contains(allreduce(8)));
  EXPECT_EQ(r.prepared, &native);
  EXPECT_EQ(r.path, call_path::native);
  EXPECT_EQ(r.ready_function, nullptr);  // the engine made nothing ready for the last call
  EXPECT_TRUE(cache.contains(allreduce(1000)));
  EXPECT_EQ(r.prepared, &composed);
  EXPECT_EQ(r.kernel, add);
  EXPECT_STREQ(r.algorithm(), "allreduce/composed");
}

TEST_F(a_call_cache, drops_all_intervals_when_there_are_too_many_heads) {
  cache.open();
  cached_call& r = cache.store(allreduce(4), native, {}, nullptr, &where);
  call_cache::use_intervals(r, cache.add_intervals(allreduce(4), {}), sizeof(double));
  for (int root = 1; root < 256; ++root) {
    call other = allreduce(1);
    other.root = root;
    cache.add_intervals(other, {});
  }
  EXPECT_NE(r.intervals, nullptr);
  call last = allreduce(1);
  last.root = 256;
  cache.add_intervals(last, {});
  EXPECT_EQ(r.intervals, nullptr);
  EXPECT_EQ(cache.intervals_of(allreduce(4)), nullptr);
  EXPECT_NE(cache.intervals_of(last), nullptr);
}

struct a_cached_call_with_counts : a_call_cache {
  // An alltoallv of int counts, whose displacements are given or left out.
  void store(std::size_t ranks, bool displs) {
    counts.assign(ranks, 2);
    places.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) places[i] = static_cast<int>(2 * i);
    call c;
    c.what = collective::alltoallv;
    c.type = element_of<double>();
    c.input = in;
    c.output = out;
    c.in_counts = c.out_counts = {counts.data(), ranks};
    c.in_displs = c.out_displs = {places.data(), ranks};
    key = call_key(c.what, c.type, builtin_op::user, false, false,
                   displs ? given_arrays::in_displs | given_arrays::out_displs : given_arrays::none);
    cache.store(c, native, {}, nullptr, &where);
    cache.store_counts(key, in, out, made(displs), c, c, &where);
  }
  counted_call made(bool displs) {
    const int* const at = displs ? places.data() : counts.data();
    return {8, 8, counts.data(), counts.data(), at, at};
  }
  std::vector<int> counts, places;
  std::uint64_t key = 0;
};

TEST_F(a_cached_call_with_counts, compares_a_few_numbers_inline) {
  cache.open();
  for (const std::size_t ranks : {2, 3, 16}) {
    store(ranks, true);
    const cached_call& r = cache.entry_of_key(key);
    ASSERT_EQ(r.key, key) << ranks;
    EXPECT_EQ(r.out_of_line_key, no_call_key);
    EXPECT_TRUE(r.counted->matches_inline<array_sides::both>(made(true)));
    ++counts.back();
    EXPECT_FALSE(r.counted->matches_inline<array_sides::both>(made(true)));
    EXPECT_FALSE(r.counted->in.matches(counts.data(), places.data()));
    --counts.back();
    EXPECT_TRUE(r.counted->out.matches(counts.data(), places.data()));
  }
}

TEST_F(a_cached_call_with_counts, compares_many_numbers_out_of_line) {
  cache.open();
  store(17, true);
  const cached_call& r = cache.entry_of_key(key);
  EXPECT_EQ(r.key, no_call_key);
  ASSERT_EQ(r.out_of_line_key, key);
  EXPECT_TRUE(r.counted->in.matches(counts.data(), places.data()));
  ++places[16];
  EXPECT_FALSE(r.counted->in.matches(counts.data(), places.data()));
}

TEST_F(a_cached_call_with_counts, stores_displacements_that_were_left_out) {
  cache.open();
  store(2, false);
  const cached_call& r = cache.entry_of_key(key);
  ASSERT_EQ(r.out_of_line_key, key);
  ASSERT_EQ(r.counted->in.dense.size(), 2 * sizeof(int));
  EXPECT_EQ(std::memcmp(r.counted->in.dense.data(), places.data(), 2 * sizeof(int)), 0);
  EXPECT_TRUE(r.counted->in.matches(counts.data(), counts.data()));
}

TEST(a_cached_side, rejects_numbers_that_fit_no_int) {
  const std::size_t big[] = {std::size_t{1} << 31};
  cached_side side;
  EXPECT_FALSE(side.store({big, 1}, {big, 1}, false, false));
  EXPECT_TRUE(side.store({big, 1}, {big, 1}, false, true));
  EXPECT_TRUE(side.matches(big, big));
}

}  // namespace
}  // namespace tutti::detail
