// SPDX-License-Identifier: Apache-2.0
//
// Tests rejected calls, after which the communicator must stay usable.
#include <string>
#include <vector>

#include "support/check.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

class a_rejected_call : public each_engine {};
INSTANTIATE_TEST_SUITE_P(engines, a_rejected_call, each_engine::jobs(), by_name());

TEST_P(a_rejected_call, of_a_root_out_of_range_leaves_the_communicator_usable) {
  EXPECT_TRUE(passes([](communicator& world) {
    for (const int bad : {-1, world.size()}) {
      std::vector<int> v{1};
      const std::string who = "bcast on rank " + std::to_string(world.rank());
      check.throws<usage_error>([&] { world.bcast(send_recv_buf(v), root(bad)); }, {who.c_str(), "root"});
    }
    check.equal(static_cast<int>(world.allgather(send_buf(world.rank())).size()), world.size());
  }));
}

TEST_P(a_rejected_call, may_have_had_a_null_buffer_with_a_count) {
  EXPECT_TRUE(passes([](communicator& world) {
    call c;
    c.what = collective::allreduce;
    c.type = element_of<int>();
    c.count = 3;
    int out[3];
    c.output = out;
    c.op.combine = [](const void*, const void*, void*, std::size_t, void*) {};
    check.throws<usage_error>([&] { detail::run_call(detail::impl_of(world), c); }, {"send_buf", "null"});
  }));
}

TEST_P(a_rejected_call, may_have_been_on_a_freed_communicator) {
  EXPECT_TRUE(passes([](communicator& world) {
    communicator copy = world.duplicate();
    copy.barrier();
    copy.free();
    check.throws<usage_error>([&] { copy.barrier(); }, {"freed"});
    world.barrier();
  }));
}

TEST_P(a_rejected_call, may_have_been_planned_on_a_freed_communicator) {
  EXPECT_TRUE(passes([](communicator& world) {
    communicator copy = world.duplicate();
    auto plan = copy.barrier_init();
    copy.free();
    check.throws<usage_error>([&] { plan.start(); }, {"freed"});
  }));
}

}  // namespace
}  // namespace tests
