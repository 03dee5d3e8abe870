// SPDX-License-Identifier: Apache-2.0
//
// Tests that a step which no call can reach is an error of the tree, and that a reachable step is
// not.
#include <string>

#include <gtest/gtest.h>

#include "base/agreed_signature.hpp"
#include "selection/quantity_values.hpp"
#include "support/selection_contexts.hpp"
#include "support/tree_texts.hpp"

namespace tutti::detail {
namespace {

// Returns the error for a region of a collective; empty if the region is valid.
std::string errors_of_region(const std::string& collective, const std::string& when, const std::string& by,
                             const std::string& steps) {
  return all_faults(read_pure("{\"" + collective + "\": [{\"when\": {" + when + "}, \"by\": \"" + by +
                              "\", \"steps\": [" + steps + "]}]}"));
}
bool unreachable(const std::string& text, int step) {
  return text.find("/steps/" + std::to_string(step) + ": this step can never be reached: ") != text.npos;
}

TEST(steps, on_local_quantities_are_unreachable) {
  for (const char* what : {"gatherv", "scatterv", "alltoallv", "alltoallw"})
    for (const char* by : {"bytes", "total_bytes", "count"}) {
      const std::string text = errors_of_region(
          what, "\"native\": true", by,
          R"({"upto": 64, "use": "native"}, {"upto": 4096, "use": "native"}, {"use": "native"})");
      EXPECT_FALSE(unreachable(text, 0)) << what << by << text;
      EXPECT_TRUE(unreachable(text, 1) && unreachable(text, 2)) << what << by << text;
      EXPECT_NE(text.find(std::string(by) + " is 0 here, because "), text.npos) << text;
    }
  for (const char* what : {"allgatherv", "reduce_scatter"}) {
    const std::string steps = R"({"upto": 64, "use": "native"}, {"use": "native"})";
    EXPECT_EQ(errors_of_region(what, "\"native\": true", "total_bytes", steps), "");
    EXPECT_TRUE(unreachable(errors_of_region(what, "\"native\": true", "bytes", steps), 1));
    EXPECT_TRUE(unreachable(errors_of_region(what, "\"native\": true", "count", steps), 1));
  }
  const std::string across = errors_of_region("bcast", "\"inter\": true", "bytes",
                                              R"({"upto": 64, "use": "across"}, {"use": "across"})");
  EXPECT_TRUE(unreachable(across, 1)) << across;
  EXPECT_NE(across.find("between two groups"), across.npos) << across;
}

TEST(steps, contradicting_conditions_are_unreachable) {
  const auto two = [](const char* upto) {
    return std::string("{\"upto\": ") + upto + ", \"use\": \"native\"}, {\"use\": \"native\"}";
  };
  EXPECT_TRUE(unreachable(
      errors_of_region("bcast", "\"native\": true, \"hierarchical\": true", "nodes", two("1")), 0));
  EXPECT_TRUE(
      unreachable(errors_of_region("bcast", "\"native\": true, \"even_ranks\": true", "ranks", two("1")), 0));
  EXPECT_TRUE(unreachable(
      errors_of_region("bcast", "\"native\": true, \"power_of_two\": true", "ranks",
                       R"({"upto": 4, "use": "native"}, {"upto": 7, "use": "native"}, {"use": "native"})"),
      1));
  EXPECT_TRUE(unreachable(
      errors_of_region("bcast", "\"native\": true, \"count_ge_ranks\": true", "bytes", two("0")), 0));
  EXPECT_EQ(errors_of_region("bcast", "\"native\": true, \"even_ranks\": true", "ranks", two("2")), "");
  EXPECT_EQ(errors_of_region("bcast", "\"native\": true, \"hierarchical\": true", "nodes", two("2")), "");
  // The conditions of nodes, and their sizes.
  const auto of_nodes = [](const char* when, const char* by, const std::string& steps) {
    return errors_of_region("bcast", std::string("\"native\": true, ") + when, by, steps);
  };
  EXPECT_TRUE(unreachable(of_nodes("\"equal_nodes\": false", "ranks_per_node", two("4")), 1));
  EXPECT_TRUE(unreachable(of_nodes("\"equal_nodes\": false", "ranks", two("2")), 0));
  EXPECT_TRUE(unreachable(of_nodes("\"hierarchical\": true", "ranks", two("2")), 0));
  EXPECT_TRUE(
      unreachable(of_nodes("\"hierarchical\": true, \"equal_nodes\": true", "ranks_per_node", two("1")), 0));
  for (const char* by : {"ranks_per_node", "nodes"})
    EXPECT_TRUE(unreachable(
        of_nodes("\"power_of_two\": true, \"equal_nodes\": true", by,
                 R"({"upto": 2, "use": "native"}, {"upto": 3, "use": "native"}, {"use": "native"})"),
        1));
  EXPECT_EQ(of_nodes("\"hierarchical\": true", "ranks_per_node", two("1")), "");
  EXPECT_EQ(of_nodes("\"hierarchical\": true", "ranks", two("3")), "");
  // Within a step.
  EXPECT_NE(errors_of_region(
                "bcast", "\"native\": true", "ranks",
                R"({"upto": 8, "by": "nodes", "steps": [{"upto": 8, "use": "native"}, {"use": "native"}]},
                    {"use": "native"})")
                .find("no call that reaches this step has nodes 9 or more"),
            std::string::npos);
  EXPECT_NE(errors_of_region("allgather", "\"native\": true", "bytes",
                             R"({"upto": 8, "use": "native"},
                    {"by": "total_bytes", "steps": [{"upto": 8, "use": "native"}, {"use": "native"}]})")
                .find("no call that reaches this step has total_bytes from 0 to 8"),
            std::string::npos);
}

// For any call, all_values() and possible() contain the values of its quantities.
TEST(steps, reachable_are_never_reported) {
  std::size_t tested = 0;
  for_each_selection_context([&](selection_context s) {
    if (has_agreed_counts(s.call.what) && !s.call.inter) s.call.total_bytes = (tested % 5) * 1000;
    if (s.call.inter && s.call.ranks < 2) return;
    if (s.call.what == collective::barrier) s.call.count = 0;
    const condition_bits truth = conditions_of(s);
    value_ranges exactly;
    for (const quantity_entry& q : quantities()) {
      const std::uint64_t value = q.value(s);
      exactly[static_cast<std::size_t>(q.which)] = {value, value};
    }
    for (const condition_entry& c : conditions()) {
      literals one;
      one.demand(c.which, (truth & bit(c.which)) != 0);
      ASSERT_TRUE(possible(s.call.what, one, exactly))
          << name_of(s.call.what) << " with " << to_string(one) << ", " << s.call.ranks << " ranks, "
          << s.call.count << " elements of " << s.call.element_size;
    }
    ++tested;
  });
  EXPECT_GT(tested, 100000u);
}

TEST(total_bytes, is_the_sum_of_the_counts_and_saturates) {
  const std::size_t counts[] = {3, 0, 5};
  call c;
  c.what = collective::allgatherv;
  c.type = element_of<double>();
  c.out_counts = {counts, 3};
  selection_context s{.call = agreed_part(c, 3)};
  EXPECT_EQ(value_of(quantity::total_bytes, s), 64u);
  s.call = agreed_part(c, 3, true);
  EXPECT_EQ(value_of(quantity::total_bytes, s), 0u);
  c.what = collective::gatherv;  // only the root has the counts
  s.call = agreed_part(c, 3);
  EXPECT_EQ(value_of(quantity::total_bytes, s), 0u);
  const std::size_t many[] = {~std::size_t{0}, 2, 2};
  c.what = collective::reduce_scatter;
  c.out_counts = {many, 3};
  s.call = agreed_part(c, 3);
  EXPECT_EQ(value_of(quantity::total_bytes, s), ~std::uint64_t{0});
}

}  // namespace
}  // namespace tutti::detail
