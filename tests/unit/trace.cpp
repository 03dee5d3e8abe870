// SPDX-License-Identifier: Apache-2.0
//
// Tests the recorder behind TUTTI_TRACE: lines by kind of call, sums, combined lines, and both
// formats.
#include "runtime/trace/trace.hpp"

#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using std::chrono::microseconds;

// Writes its report at destruction, here into a file that nobody reads.
struct quiet_trace : call_trace {
  quiet_trace() : call_trace("/dev/null", "threads", 4) {}
};

call allreduce_of(std::size_t count) {
  call c;
  c.what = collective::allreduce;
  c.type = element_of<double>();
  c.count = count;
  c.op.which = builtin_op::sum;
  c.op.commutative = true;
  return c;
}

call_kind ring(std::size_t count, std::uint64_t communicator = 1) {
  return kind_of(allreduce_of(count), {}, read_choice(collective::allreduce, "segmented_ring:segment=4096"),
                 communicator, 0, 4, false);
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(trace, equal_kinds_are_one_line) {
  quiet_trace t;
  for (int i = 0; i < 3; ++i) t.add(ring(8), 64, microseconds(10));
  t.add(ring(9), 72, microseconds(1));
  t.add(ring(8, 2), 64, microseconds(1));
  const std::string text = t.json();
  EXPECT_TRUE(holds(text, "\"calls\": 3, \"bytes\": 192, \"nanoseconds\": 30000"));
  EXPECT_TRUE(holds(text, "\"calls\": 1, \"bytes\": 72, \"nanoseconds\": 1000"));
  EXPECT_TRUE(holds(text, "\"communicator\": 2"));
  EXPECT_EQ(lines(t.table()), 5u) << t.table();
  EXPECT_TRUE(holds(t.table(), "threads, 4 ranks, as seen by rank 0: 5 calls"));
}

TEST(trace, names_algorithms_as_calls_can_request_them) {
  quiet_trace t;
  t.add(ring(8), 64, microseconds(10));
  t.add(kind_of(allreduce_of(8), {}, {}, 1, 0, 4, false), 64, microseconds(10));
  const std::string text = t.json(), table = t.table();
  EXPECT_TRUE(holds(text, R"("algorithm": "allreduce/segmented_ring", "parameters": {"segment": 4096}, )"
                          R"("composition": null)"))
      << text;
  EXPECT_TRUE(holds(text, R"("algorithm": "allreduce/native", "parameters": {})"));
  EXPECT_TRUE(holds(text, R"("type": "f64", "op": "sum", "commutative": true)"));
  EXPECT_TRUE(holds(table, "allreduce/segmented_ring:segment=4096")) << table;
  EXPECT_TRUE(holds(table, "8 x 8")) << table;
}

TEST(trace, every_part_of_the_shape_makes_a_separate_line) {
  call c;
  c.what = collective::reduce;
  c.type = element_of<int>();
  c.count = 3;
  c.op.which = builtin_op::max;
  c.op.commutative = true;
  const choice tree = read_choice(collective::reduce, "knomial");
  const auto kind = [&](const call& one, int rank = 0, bool inter = false) {
    return kind_of(one, {}, tree, 1, rank, 4, inter);
  };
  std::vector<call_kind> all{kind(c), kind(c, 1), kind(c, 0, true)};
  const auto changed = [&](auto change) {
    call other = c;
    change(other);
    all.push_back(kind(other));
  };
  changed([](call& o) { o.type = element_of<float>(); });
  changed([](call& o) { o.type = element_of<long>(); });
  changed([](call& o) { o.op.which = builtin_op::min; });
  changed([](call& o) { o.op.commutative = false; });
  changed([](call& o) { o.what = collective::allreduce; });
  changed([](call& o) { o.what = collective::allreduce, o.in_place = true; });
  all.push_back(kind(c));
  all.back().nonblocking = true;
  all.push_back(kind_of(c, {}, read_choice(collective::reduce, "knomial:k=3"), 1, 0, 4, false));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(all[i] == all[k]) << i << " " << k;
  quiet_trace t;
  for (const call_kind& k : all) t.add(k, 1, microseconds(1));
  EXPECT_EQ(lines(t.table()), all.size() + 2);
  for (const char* part : {"root here", "root elsewhere", "between two groups", "in place", "nonblocking",
                           "i32 max (not commutative)", "reduce/knomial:k=3"})
    EXPECT_TRUE(holds(t.table(), part)) << part << "\n" << t.table();
}

TEST(trace, counts_of_vector_forms_share_a_line) {
  const std::vector<std::size_t> counts{1, 2, 3, 4}, other_counts{4, 4, 4, 4};
  call c;
  c.what = collective::allgatherv;
  c.type = element_of<int>();
  c.count = 1;
  c.out_counts = counts_view(counts.data(), counts.size());
  EXPECT_EQ(bytes_of(c, 4), 40u);
  const call_kind first = kind_of(c, {}, {}, 1, 0, 4, false);
  c.out_counts = counts_view(other_counts.data(), other_counts.size());
  c.count = 4;
  EXPECT_EQ(bytes_of(c, 4), 64u);
  EXPECT_EQ(first, kind_of(c, {}, {}, 1, 0, 4, false));
}

TEST(trace, bytes_of_regular_calls) {
  call c = allreduce_of(10);
  EXPECT_EQ(bytes_of(c, 4), 80u);
  c.what = collective::alltoall;
  EXPECT_EQ(bytes_of(c, 4), 320u);
  c.what = collective::barrier;
  EXPECT_EQ(bytes_of(c, 4), 0u);
}

TEST(trace, kinds_beyond_the_limit_share_a_line) {
  quiet_trace t;
  for (std::size_t i = 0; i < call_trace::max_kinds + 5; ++i) t.add(ring(i), 1, microseconds(1));
  t.add(ring(0), 1, microseconds(1));  // a known kind
  const std::string table = t.table();
  EXPECT_EQ(lines(table), call_trace::max_kinds + 3);
  EXPECT_TRUE(holds(table, "others"));
  EXPECT_TRUE(holds(t.json(), "\"others\": {\"calls\": 5, \"bytes\": 5, \"nanoseconds\": 5000}"));
  t.set_inner_calls(ring(call_trace::max_kinds + 1), {inner_call{}});
  EXPECT_FALSE(holds(t.json(), "\"inside\""));
}

TEST(trace, composed_calls_list_their_inner_calls) {
  const composed_choice by = read_composition(collective::allreduce, "reduce_bcast");
  ASSERT_NE(by.which, nullptr);
  const call_kind kind = kind_of(allreduce_of(8), by, {}, 1, 0, 4, false);
  quiet_trace t;
  t.add(kind, 64, microseconds(1));
  t.set_inner_calls(kind, {{collective::reduce, 4, 8, false, read_choice(collective::reduce, "knomial:k=4")},
                           {collective::bcast, 4, 8, true, {}, 2},
                           {collective::bcast, 4, 9, true, {}, 1},
                           {collective::bcast, 4, 8, true, {}, 3}});
  const std::string text = t.json(), table = t.table();
  EXPECT_TRUE(holds(text, R"("algorithm": "allreduce/reduce_bcast")")) << text;
  EXPECT_TRUE(holds(text, R"("composition": "allreduce/reduce_bcast")"));
  EXPECT_TRUE(holds(text,
                    R"({"collective": "reduce", "ranks": 4, "count": 8, "in_place": false, "times": 1, )"
                    R"("algorithm": "reduce/knomial", "parameters": {"k": 4}})"));
  EXPECT_TRUE(holds(text, R"("count": 8, "in_place": true, "times": 5, "algorithm": "bcast/native")"));
  EXPECT_TRUE(holds(table, "  reduce/knomial:k=4")) << table;
  EXPECT_TRUE(holds(table, "5 in each call, in place")) << table;
  EXPECT_EQ(lines(table), 6u);
}

TEST(trace, the_setting) {
  EXPECT_TRUE(read_trace("calls").calls);
  EXPECT_EQ(read_trace("calls:json=a/b.json").file, "a/b.json");
  for (const char* wrong : {"", "call", "calls:", "calls:json", "calls:json=", "calls:text=a", "1"})
    EXPECT_THROW(read_trace(wrong), usage_error) << wrong;
}

TEST(trace, is_written_when_it_ends) {
  const tests::scratch_folder here;
  const std::string file = here.path("trace.json");
  { call_trace t(file, "fibers", 3); }
  const std::string text = tests::contents(file);
  EXPECT_TRUE(text.starts_with("{\"engine\": \"fibers\", \"ranks\": 3, \"calls\": []")) << text;
}

}  // namespace
}  // namespace tutti::detail
