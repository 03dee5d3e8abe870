// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of calls in checked mode and the error that each rank throws. The test runs
// rank 1 of 3 and supplies the data of the other ranks.
#include "communicator/checked_mode.hpp"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_engine.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

call allreduce(std::size_t count) {
  call c;
  c.what = collective::allreduce;
  c.type = element_of<double>();
  c.count = count;
  c.op = {[](const void*, const void*, void*, std::size_t, void*) {}, nullptr, builtin_op::sum, true};
  return c;
}

struct checked_mode_of_three_ranks : testing::Test {
  checked_mode_of_three_ranks() {
    control.reply = [](const call& c) { tests::fake_control::repeat_local(c, 3); };
  }
  // The other ranks call this instead.
  void others_call(const call& other) {
    control.reply = [this, other](const call& c) {
      tests::fake_control::repeat_local(c, 3);
      static_cast<call_digest*>(c.output)[2] = digest_of(other, 3, false, false, {});
    };
  }
  std::string mismatch_of(const call& mine) {
    try {
      checked.compare(mine);
    } catch (const mismatch_error& e) {
      return e.what();
    }
    return "";
  }

  tests::fake_endpoint ep{1, 3};
  std::shared_ptr<rank_state> shared = tests::fake_rank(ep);
  communicator_state state{shared, group::range(0, 1, 3, 1), group_name{1, 1}};
  tests::fake_control control;
  checked_mode checked{state, control};
};

TEST_F(checked_mode_of_three_ranks, is_on_if_the_settings_say_so) {
  EXPECT_FALSE(checked.is_on());
  shared->config.check = true;
  EXPECT_TRUE(checked.is_on());
}

TEST_F(checked_mode_of_three_ranks, accepts_equal_calls) {
  EXPECT_NO_THROW(checked.compare(allreduce(3)));
  EXPECT_NO_THROW(checked.compare("duplicate"));
  EXPECT_EQ(control.made.size(), 2u);
}

TEST_F(checked_mode_of_three_ranks, names_both_calls_that_differ) {
  others_call(allreduce(4));
  const std::string text = mismatch_of(allreduce(3));
  EXPECT_NE(text.find("rank 0 calls allreduce of 3 elements of 8 bytes (f64), sum"), std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 2 calls allreduce of 4 elements"), std::string::npos) << text;
  call named = allreduce(3);
  named.algorithm = "ring";
  others_call(named);
  EXPECT_NE(mismatch_of(allreduce(3)).find("named \"ring\""), std::string::npos);
  call ordered = allreduce(3);
  ordered.op.commutative = false;
  others_call(ordered);
  EXPECT_NE(mismatch_of(allreduce(3)).find("not commutative"), std::string::npos);
}

TEST_F(checked_mode_of_three_ranks, does_not_compare_the_places_of_calls) {
  control.reply = [](const call& c) {
    tests::fake_control::repeat_local(c, 3);
    static_cast<call_digest*>(c.output)[0].place[0] = 'x';
  };
  EXPECT_NO_THROW(checked.compare(allreduce(3)));
}

TEST_F(checked_mode_of_three_ranks, throws_the_reason_of_a_rank_that_rejects_its_arguments) {
  const auto reply = [](const call& c) {
    tests::fake_control::repeat_local(c, 3);
    if (c.type.size == sizeof(call_digest))
      static_cast<call_digest*>(c.output)[2].rejected = 1;
    else
      std::strcpy(static_cast<char*>(c.output) + 2 * c.type.size, "count is negative");
  };
  control.reply = reply;
  try {
    checked.compare(allreduce(3));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const peer_error& e) {
    EXPECT_NE(std::string(e.what()).find("rank 2 rejected its arguments: count is negative"),
              std::string::npos);
  }
  // The rank itself throws its own error afterwards.
  EXPECT_NO_THROW(checked.report_rejection(allreduce(3), "count is negative"));
}

TEST_F(checked_mode_of_three_ranks, finds_counts_that_do_not_match) {
  const std::size_t sends[] = {1, 2, 3}, expects[] = {4, 2, 6};
  call c;
  c.what = collective::alltoallv;
  c.type = element_of<int>();
  c.in_counts = {sends, 3};
  c.out_counts = {expects, 3};
  control.reply = [](const call& k) {
    tests::fake_control::repeat_local(k, 3);
    if (k.what != collective::alltoall) return;
    auto* const sent = static_cast<std::uint64_t*>(k.output);  // what each rank sends to this one
    sent[0] = 4, sent[1] = 2, sent[2] = 5;
  };
  const std::string text = mismatch_of(c);
  EXPECT_NE(text.find("rank 2 sends 5 elements to rank 1, which expects 6"), std::string::npos) << text;
}

TEST_F(checked_mode_of_three_ranks, requires_both_ends_of_an_edge) {
  control.reply = [](const call& c) {
    auto* const named = static_cast<std::uint64_t*>(c.output);
    named[0] = 1, named[1] = 0, named[2] = 0;  // rank 0 sends to this one
  };
  EXPECT_NO_THROW(checked.compare_edges({true, {0}, {2}, 0}));
  EXPECT_THROW(checked.compare_edges({true, {}, {2}, 0}), mismatch_error);
  EXPECT_THROW(checked.compare_edges({true, {0, 2}, {}, 0}), mismatch_error);
}

TEST_F(checked_mode_of_three_ranks, compares_settings_by_a_named_algorithm) {
  control.reply = [](const call& c) {
    EXPECT_STREQ(c.algorithm, "ring");
    tests::fake_control::repeat_local(c, 3);
  };
  EXPECT_NO_THROW(compare_settings(state, control));
  control.reply = [](const call& c) {
    tests::fake_control::repeat_local(c, 3);
    if (c.type.size == 8) ++static_cast<std::uint64_t*>(c.output)[2];
  };
  EXPECT_THROW(compare_settings(state, control), mismatch_error);
}

}  // namespace
}  // namespace tutti::detail
