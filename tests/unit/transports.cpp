// SPDX-License-Identifier: Apache-2.0
//
// The words for the transport of a call, which all reports use. tests/tool/explain.cpp tests those
// of the mpi engine by queries, and tests/node_segment/named_transports.cpp by calls that run.
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "engines/engine_table.hpp"
#include "engines/mpi/call_transport.hpp"
#include "tutti/element.hpp"

namespace {

using namespace tutti;
using namespace tutti::detail;

call call_of(collective what, std::size_t bytes) {
  call made;
  made.what = what;
  made.type = element_of<double>();
  made.count = bytes / sizeof(double);
  return made;
}

TEST(transports, an_engine_needs_no_words_of_its_own) {
  const hierarchy one(1), four(4);
  const call made = call_of(collective::bcast, 8);
  const engine_entry messages{.name = "toy", .meaning = "a rank sends messages"},
      memory{.name = "toy", .meaning = "a rank reads memory", .shared_memory = true};
  EXPECT_EQ(transport_of(messages, {.arguments = made, .topology = four}), "messages of the engine");
  EXPECT_EQ(transport_of(memory, {.arguments = made, .topology = four}), "memory of the process");
  for (const engine_entry* e : {&messages, &memory, find_engine("mpi")})
    EXPECT_EQ(transport_of(*e, {.arguments = made, .topology = one}), "none, because there is one rank");
}

constexpr std::size_t measured = tutti::detail::min_measured_part_bytes;

// The words change at the shortest call that may go by address. Calls of most kinds are measured
// from this length on if each rank has a core.
TEST(transports, change_at_the_limits) {
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  struct {
    collective what;
    int ranks;
    bool oversubscribed;
    std::size_t limit;
  } const cases[] = {
      {collective::scatter, 4, false, 64 * kib},
      {collective::scatter, 4, true, 16 * kib},
      {collective::alltoall, 4, false, measured},
      {collective::alltoall, 4, true, 64 * kib},
      {collective::bcast, 4, true, 8 * mib},
      {collective::allgather, 4, false, measured},
      {collective::allreduce, 4, false, 4 * measured},
      {collective::allreduce, 4, true, 16 * mib},
      {collective::allgatherv, 4, false, measured},
      {collective::allreduce, 2, true, 8 * mib},
      {collective::reduce_scatter_block, 2, false, measured},
      {collective::reduce_scatter_block, 2, true, 128 * kib},
      {collective::exscan, 2, false, measured},
  };
  for (const auto& one : cases) {
    const hierarchy node(one.ranks);
    const auto words = [&](std::size_t bytes, bool cross_memory, bool oversubscribed) {
      const call made = call_of(one.what, bytes);
      return transport_of(*find_engine("mpi"), {.arguments = made,
                                                .topology = node,
                                                .native = true,
                                                .node_memory = true,
                                                .cross_memory = cross_memory,
                                                .oversubscribed = oversubscribed});
    };
    SCOPED_TRACE(std::string(name_of(one.what)) + " of " + std::to_string(one.limit));
    const auto may_go_by_address = [](const std::string& text) {
      return text.find("by address") != std::string::npos;
    };
    const std::string at_limit = words(one.limit, true, one.oversubscribed);
    if (one.oversubscribed || one.what == collective::scatter)
      EXPECT_EQ(at_limit, "node memory, by address");
    else
      EXPECT_TRUE(at_limit.ends_with(" bytes, or by address, as measured")) << at_limit;
    EXPECT_TRUE(words(one.limit - 8, true, one.oversubscribed).starts_with("node memory, "));
    EXPECT_FALSE(may_go_by_address(words(one.limit - 8, true, one.oversubscribed)));
    EXPECT_FALSE(may_go_by_address(words(one.limit, false, one.oversubscribed)));
  }
}

// The slots of a large node hold no part of a block for each of its ranks.
TEST(transports, leave_to_mpi_what_needs_larger_slots) {
  const hierarchy node(128);
  const auto words = [&](collective what) {
    const call made = call_of(what, 65536);
    return transport_of(
        *find_engine("mpi"),
        {.arguments = made, .topology = node, .native = true, .node_memory = true, .cross_memory = true});
  };
  EXPECT_EQ(words(collective::scatter), "the MPI's own collective");
  EXPECT_EQ(words(collective::reduce), "node memory, 16 rounds of up to 4096 bytes");
}

TEST(transports, name_both_of_a_schedule_on_several_nodes) {
  const call made = call_of(collective::allreduce, 64);
  const auto words = [&](const hierarchy& nodes, bool node_memory) {
    return transport_of(*find_engine("mpi"),
                        {.arguments = made, .topology = nodes, .node_memory = node_memory});
  };
  EXPECT_EQ(words(hierarchy(4), true), "channels in node memory");
  EXPECT_EQ(words(read_nodes("1,3", 4), true), "channels in node memory, and MPI messages between nodes");
  EXPECT_EQ(words(read_nodes("4x1", 4), true), "MPI messages");
  EXPECT_EQ(words(hierarchy(4), false), "MPI messages");
}

}  // namespace
