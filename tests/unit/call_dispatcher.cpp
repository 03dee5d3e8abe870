// SPDX-License-Identifier: Apache-2.0
//
// Which path a call takes (the table in call_dispatcher.hpp), on one rank of an engine that counts
// the calls of its own collectives.
#include "communicator/call_dispatcher.hpp"

#include <gtest/gtest.h>

#include "communicator/communicator_impl.hpp"
#include "communicator/internal_calls.hpp"
#include "communicator/make_communicators.hpp"
#include "support/fake_engine.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

// Something under way that never ends.
class endless final : public progressable {
 public:
  bool advance(bool) override { return ++progress_count_, false; }
  std::uint64_t progress_count() const noexcept override { return progress_count_; }
  shm::wait_site site(const char*, int) const noexcept override { return {}; }

 private:
  std::uint64_t progress_count_ = 0;
};

struct a_call_dispatcher : testing::Test {
  a_call_dispatcher() {
    ep.record.offer = native_offer::any;
    ep.record.has_ready = true;
    world = make_world(rank);
  }
  call allreduce(std::size_t count) {
    call c;
    c.what = collective::allreduce;
    c.type = element_of<double>();
    c.count = count;
    c.input = in;
    c.output = out;
    c.op = {[](const void*, const void*, void*, std::size_t, void*) {}, nullptr, builtin_op::user, true};
    return c;
  }
  bool repeat(const call& c) {
    return run_cached(c.input, c.output, c.count, *world,
                      call_key(c.what, c.type, c.op.which, c.op.commutative), c.op.combine);
  }

  double in[200] = {}, out[200] = {};
  tests::fake_endpoint ep{0, 2};
  std::shared_ptr<rank_state> rank = tests::fake_rank(ep);
  communicator_handle world;
};

TEST_F(a_call_dispatcher, runs_a_repeated_call_by_the_function_that_the_engine_made_ready) {
  const call c = allreduce(1);
  EXPECT_FALSE(repeat(c));
  run_call(*world, c);
  EXPECT_STREQ(last_algorithm(*world, c.what), "allreduce/native");
  EXPECT_EQ(ep.record.ready, 1);
  EXPECT_TRUE(repeat(c));
  run_call(*world, c);
  EXPECT_EQ(ep.record.ready, 3);
  EXPECT_EQ(ep.record.native, 0);
}

TEST_F(a_call_dispatcher, ends_the_job_before_an_exception_leaves_a_repeated_call) {
  const call c = allreduce(1);
  run_call(*world, c);
  ep.record.ready_throws = true;
  EXPECT_THROW(repeat(c), engine_error);
  EXPECT_EQ(ep.record.abandoned, 1);
  EXPECT_THROW(run_call(*world, c), engine_error);
  EXPECT_EQ(ep.record.abandoned, 2);
}

TEST_F(a_call_dispatcher, runs_longer_vectors_by_the_call_itself) {
  run_call(*world, allreduce(101));
  EXPECT_TRUE(repeat(allreduce(101)));
  EXPECT_EQ(ep.record.native, 2);
  EXPECT_EQ(ep.record.ready, 0);
}

TEST_F(a_call_dispatcher, passes_calls_with_another_root_to_the_engine) {
  call bcast;
  bcast.what = collective::bcast;
  bcast.count = 4;
  bcast.input = bcast.output = out;
  call reduce = allreduce(4);
  reduce.what = collective::reduce;
  for (call c : {bcast, reduce}) {
    ep.record.native = ep.record.ready = 0;
    run_call(*world, c);
    EXPECT_EQ(ep.record.ready, 1);
    c.root = 1;
    run_call(*world, c);
    EXPECT_EQ(ep.record.native, 1);
    // The program stays with this root: the call is stored with it.
    for (int i = 0; i < 20; ++i) run_call(*world, c);
    EXPECT_EQ(ep.record.native, 16);
    EXPECT_EQ(ep.record.ready, 6);
    c.root = 2;
    EXPECT_THROW(run_call(*world, c), usage_error);
    c.root = 0;
    c.input = nullptr;
    EXPECT_THROW(run_call(*world, c), usage_error);
  }
}

TEST_F(a_call_dispatcher, does_not_repeat_another_call) {
  run_call(*world, allreduce(1));
  call other = allreduce(1);
  other.type = element_of<float>();
  EXPECT_FALSE(repeat(other));
  EXPECT_FALSE(repeat(allreduce(2)));  // there are no trees, so no intervals
  EXPECT_TRUE(repeat(allreduce(1)));
  run_call(*world, allreduce(2));
  EXPECT_TRUE(repeat(allreduce(2)));
  EXPECT_FALSE(repeat(allreduce(1)));
}

TEST_F(a_call_dispatcher, progresses_what_is_under_way) {
  run_call(*world, allreduce(1));
  endless other;
  add_progress(*world, other);
  EXPECT_TRUE(has_other_operations(*world, nullptr));
  EXPECT_FALSE(has_other_operations(*world, &other));
  EXPECT_TRUE(repeat(allreduce(1)));
  EXPECT_EQ(ep.record.ready, 1);  // of the first call
  EXPECT_EQ(ep.record.native, 1);
  remove_progress(*world, other);
  EXPECT_TRUE(repeat(allreduce(1)));
  EXPECT_EQ(ep.record.ready, 2);
}

// Other ranks may call the engine directly while this rank uses the executor. A schedule skips the
// id of hops on all ranks.
TEST_F(a_call_dispatcher, assigns_the_same_ids_to_native_calls_with_operations_under_way) {
  for (std::uint32_t id = 0; id < hop::call_id_bits; ++id) run_call(*world, allreduce(1));
  endless other;
  add_progress(*world, other);
  run_call(*world, allreduce(1));
  remove_progress(*world, other);
  EXPECT_TRUE(world->calls().has_begun(hop::call_id_bits));
  EXPECT_FALSE(world->calls().has_begun(hop::call_id_bits + 1));
}

TEST_F(a_call_dispatcher, begins_and_prepares_calls) {
  pending_call plan = prepare_call(*world, allreduce(1));
  EXPECT_EQ(ep.record.native, 0);
  for (int i = 0; i < 2; ++i) {
    plan->start();
    EXPECT_THROW(plan->start(), usage_error);  // even if the run is over
    plan->wait();
  }
  EXPECT_EQ(ep.record.native, 2);
  EXPECT_TRUE(rank->active.empty());
  start_call(*world, allreduce(1))->wait();
  EXPECT_EQ(ep.record.native, 3);
}

TEST_F(a_call_dispatcher, repeats_nothing_after_free) {
  const call c = allreduce(1);
  run_call(*world, c);
  pending_call plan = prepare_call(*world, c);
  release(*world);
  EXPECT_FALSE(repeat(c));
  EXPECT_THROW(plan->start(), usage_error);
  EXPECT_THROW(validate_call(*world, c), usage_error);
}

TEST_F(a_call_dispatcher, repeats_a_call_with_counts_that_are_the_same) {
  const int counts[] = {1, 2}, displs[] = {0, 4};
  call c;
  c.what = collective::alltoallv;
  c.type = element_of<double>();
  c.input = in;
  c.output = out;
  c.in_counts = c.out_counts = {counts, 2};
  c.in_displs = c.out_displs = {displs, 2};
  const std::uint64_t key = call_key(c.what, c.type, builtin_op::user, false, false,
                                     given_arrays::in_displs | given_arrays::out_displs);
  counted_call again{sizeof in, sizeof out, counts, counts, displs, displs};
  EXPECT_FALSE(run_cached_with_counts<array_sides::both>(in, out, again, key, *world));
  run_call(*world, c);
  cache_call(*world, key, in, out, again, c);
  const int before = ep.record.ready_counted;
  EXPECT_TRUE(run_cached_with_counts<array_sides::both>(in, out, again, key, *world));
  EXPECT_EQ(ep.record.ready_counted, before + 1);
  const int other_counts[] = {1, 3};
  again.in_counts = again.out_counts = other_counts;
  EXPECT_FALSE(run_cached_with_counts<array_sides::both>(in, out, again, key, *world));
}

}  // namespace
}  // namespace tutti::detail
