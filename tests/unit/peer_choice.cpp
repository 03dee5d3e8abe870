// SPDX-License-Identifier: Apache-2.0
//
// Compares what the trees of trees/peers/ choose with facts read from the sources of the MPIs. Each
// fact names the line that it was read from.
#include "tuning/peer_choice.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "support/selection_contexts.hpp"

namespace tutti::tuning {
namespace {

/// A call of `ranks` ranks, one on each node unless `ranks_per_node` says otherwise.
struct fact {
  const char* line;
  collective what;
  int ranks;
  std::size_t bytes;  ///< of a block, or of the whole vector; in vector forms of all blocks
  const char* expected;
  std::size_t element_size = 1;
  bool commutative = true;
  bool in_place = false;
  int ranks_per_node = 1;
  bool node_consecutive = true;
};

selection_context call_of(const fact& f) {
  const bool vector_form = is_vector_form(f.what);
  selection_context s = make_selection_context(
      f.what, f.ranks, vector_form ? 0 : f.bytes / f.element_size, f.element_size, f.in_place,
      f.commutative ? builtin_op::sum : builtin_op::user, f.commutative, false, false, false);
  if (has_agreed_counts(f.what)) s.call.total_bytes = f.bytes;
  s.nodes = f.ranks / f.ranks_per_node;
  s.ranks_per_node = f.ranks_per_node;
  s.node_consecutive = f.node_consecutive;
  return s;
}

std::string text_of(const peer_decision& d) {
  leaf l;
  l.what = d.composed.which != nullptr ? leaf::kind::composed : leaf::kind::algorithm;
  l.chosen = d.pure;
  l.composed = d.composed;
  return to_string(l);
}

void compare(peer_mpi mpi, std::span<const fact> facts) {
  for (const fact& f : facts) {
    const auto made = peer_choice(mpi, call_of(f));
    ASSERT_TRUE(made) << f.line;
    EXPECT_EQ(text_of(*made), f.expected)
        << f.line << ": " << name_of(f.what) << " of " << f.ranks << " ranks, " << f.bytes << " bytes";
  }
}

// Lines of ompi/mca/coll/tuned/coll_tuned_decision_fixed.c if no other file is named.
TEST(peer_choices, of_open_mpi) {
  const fact facts[] = {
      {"barrier 485", collective::barrier, 5, 0, "tree:k=8"},
      {"barrier 487", collective::barrier, 8, 0, "recursive_exchange:k=2"},
      {"barrier 489", collective::barrier, 100, 0, "dissemination:k=2"},
      {"barrier 491", collective::barrier, 300, 0, "tree:k=2"},
      {"bcast 559", collective::bcast, 3, 1 << 20, "binary_pipeline:segment=1073741824"},
      {"bcast 591; coll_tuned_bcast_decision.c 34", collective::bcast, 20, 100, "knomial:k=4,window=1"},
      {"bcast 595", collective::bcast, 20, 1 << 20, "scatter_recursive_doubling"},
      {"bcast 595; coll_base_bcast.c 794", collective::bcast, 20, 1 << 20, "linear", 1 << 20},
      {"bcast 621", collective::bcast, 300, 20000, "knomial:k=2,window=1"},
      {"reduce 728", collective::reduce, 3, 7, "rabenseifner"},
      {"reduce 728; coll_base_reduce.c 812", collective::reduce, 3, 7, "linear", 7},
      {"reduce 732", collective::reduce, 3, 20, "chain:segment=1073741824"},
      {"reduce 758", collective::reduce, 12, 8000, "in_order_binary:segment=1073741824"},
      {"reduce 718", collective::reduce, 200, 600, "linear", 1, false},
      {"allreduce 167", collective::allreduce, 64, 8, "recursive_doubling", 8},
      {"allreduce 173", collective::allreduce, 128, 8, "reduce_bcast", 8},
      {"allreduce 103", collective::allreduce, 200, 1 << 20, "reduce_bcast", 8, false},
      {"allreduce 149", collective::allreduce, 12, 8192, "rabenseifner", 8},
      {"allreduce 153; coll_base_allreduce.c 656", collective::allreduce, 20, 32, "ring"},
      {"allreduce 153; coll_base_allreduce.c 371", collective::allreduce, 20, 32, "recursive_doubling", 8},
      {"allreduce 163; coll_base_allreduce.c 988", collective::allreduce, 40, 31 * 8, "reduce_bcast", 8},
      {"allreduce 163", collective::allreduce, 40, 32 * 8, "rabenseifner", 8},
      {"gather 1431", collective::gather, 5, 2048, "linear"},
      {"gather 1440", collective::gather, 64, 1 << 20, "knomial:k=2"},
      {"coll_basic_gatherv.c", collective::gatherv, 64, 0, "linear"},
      {"scatter 1552", collective::scatter, 64, 100, "knomial:k=2,window=1"},
      {"scatter 1554", collective::scatter, 64, 1024, "linear"},
      {"allgather 1119", collective::allgather, 2, 8, "recursive_doubling"},
      {"allgather 1121; coll_base_allgather.c 274", collective::allgather, 12, 8, "bruck:k=2"},
      {"allgather 1126", collective::allgather, 34, 2048, "neighbor_exchange"},
      {"allgather 1126; coll_base_allgather.c 499", collective::allgather, 33, 2048, "ring"},
      {"allgatherv 1303", collective::allgatherv, 16, 16 * 128 - 1, "gatherv_bcast"},
      {"allgatherv 1305", collective::allgatherv, 16, 16 * 128, "bruck:k=2"},
      {"alltoall 321", collective::alltoall, 64, 512, "bruck:k=2"},
      {"alltoall 327", collective::alltoall, 64, 4096, "scattered:window=1024"},
      {"alltoall 329", collective::alltoall, 64, 1 << 18, "pairwise"},
      {"coll_base_alltoall.c 170", collective::alltoall, 64, 8, "in_place_exchange", 1, true, true},
      {"alltoallv 441", collective::alltoallv, 64, 0, "scattered:window=1"},
      {"alltoallv 443", collective::alltoallv, 128, 0, "scattered:window=1024"},
      {"reduce_scatter 876", collective::reduce_scatter, 8, 1 << 20, "ring"},
      {"reduce_scatter 854", collective::reduce_scatter, 8, 64, "reduce_then_scatter", 1, false},
      {"reduce_scatter_block 1068", collective::reduce_scatter_block, 64, 8, "reduce_then_scatter"},
      {"reduce_scatter_block 1070", collective::reduce_scatter_block, 64, 32, "butterfly"},
      {"coll_basic_scan.c 49", collective::scan, 64, 8, "linear"},
      {"coll_basic_exscan.c", collective::exscan, 64, 8, "linear"},
  };
  compare(peer_mpi::open_mpi, facts);
}

// Lines of maint/tuning/coll/mpir/generic.json; those of maint/tuning/coll/ch4/generic.json with
// "ch4".
TEST(peer_choices, of_mpich) {
  const fact facts[] = {
      {"424", collective::barrier, 100, 0, "dissemination:k=2"},
      {"ch4 113", collective::barrier, 96, 0, "node_leader", 1, true, false, 8},
      {"23", collective::bcast, 7, 1 << 20, "knomial:k=2,window=1"},
      {"52", collective::bcast, 64, 12288, "knomial:k=2,window=1"},
      {"56", collective::bcast, 64, 12289, "scatter_recursive_doubling"},
      {"60", collective::bcast, 64, 524289, "scatter_ring"},
      {"89", collective::bcast, 65, 12289, "scatter_ring"},
      {"ch4 12", collective::bcast, 6, 1 << 20, "node_leader", 1, true, false, 2},
      {"ch4 23", collective::bcast, 64, 524287, "node_leader", 1, true, false, 8},
      {"ch4 27; 41", collective::bcast, 64, 524288, "scatter_recursive_doubling", 1, true, false, 8},
      {"ch4 38; 74", collective::bcast, 96, 12288, "knomial:k=2,window=1", 1, true, false, 8},
      {"250", collective::reduce, 64, 2048, "knomial:k=2"},
      {"262", collective::reduce, 64, 2056, "rabenseifner", 8},
      {"258; count < 32", collective::reduce, 40, 31 * 80, "knomial:k=2", 80},
      {"262; count < 32", collective::reduce, 40, 32 * 80, "rabenseifner", 80},
      {"267", collective::reduce, 64, 4096, "knomial:k=2", 8, false},
      {"ch4 93", collective::reduce, 64, 4096, "node_leader", 8, true, false, 8},
      {"116", collective::allreduce, 64, 8, "recursive_doubling"},
      {"132", collective::allreduce, 64, 64 * 8, "rabenseifner", 8},
      {"128", collective::allreduce, 64, 63 * 8, "recursive_doubling", 8},
      {"122", collective::allreduce, 64, 1 << 20, "recursive_doubling", 8, false},
      {"ch4 64", collective::allreduce, 64, 1 << 20, "node_leader", 8, true, false, 8},
      {"ch4 69; 122", collective::allreduce, 64, 1 << 20, "recursive_doubling", 8, false, false, 8},
      {"352", collective::gather, 64, 1 << 20, "knomial:k=2"},
      {"370", collective::scatter, 64, 8, "knomial:k=2,window=1"},
      {"386", collective::gatherv, 64, 0, "linear"},
      {"150", collective::allgather, 64, 8191, "recursive_doubling"},
      {"154", collective::allgather, 64, 8192, "ring"},
      {"161", collective::allgather, 80, 1023, "bruck:k=2"},
      {"165", collective::allgather, 80, 1024, "ring"},
      {"193", collective::allgatherv, 80, 81919, "bruck:k=2"},
      {"197", collective::allgatherv, 80, 81920, "ring"},
      {"438", collective::alltoall, 64, 8, "in_place_exchange", 1, true, true},
      {"446; MPIR_CVAR_ALLTOALL_THROTTLE", collective::alltoall, 7, 8, "scattered:window=32"},
      {"457", collective::alltoall, 64, 256, "bruck:k=2"},
      {"461", collective::alltoall, 64, 257, "scattered:window=32"},
      {"465", collective::alltoall, 64, 32769, "pairwise"},
      {"285", collective::reduce_scatter, 64, 524287, "recursive_halving"},
      {"289", collective::reduce_scatter, 64, 524288, "pairwise"},
      {"307", collective::reduce_scatter, 64, 524288, "recursive_doubling", 8, false},
      {"324", collective::reduce_scatter_block, 64, 8191, "recursive_halving"},
      {"328", collective::reduce_scatter_block, 64, 8192, "pairwise"},
      {"335", collective::reduce_scatter_block, 64, 8, "butterfly", 8, false},
      {"339", collective::reduce_scatter_block, 65, 8, "recursive_doubling", 8, false},
      {"402", collective::scan, 64, 8, "recursive_doubling"},
      {"ch4 202", collective::scan, 64, 8, "node_leader", 1, true, false, 8},
      {"ch4 206", collective::scan, 64, 8, "recursive_doubling", 1, true, false, 8, false},
      {"412", collective::exscan, 64, 8, "recursive_doubling"},
  };
  compare(peer_mpi::mpich, facts);
}

// The trees are meant for messages, so they never leave a call to an engine.
TEST(peer_choices, serve_every_call_of_one_group) {
  for (const std::string_view name : peer_mpi_names()) {
    const auto mpi = find_peer_mpi(name);
    ASSERT_TRUE(mpi);
    EXPECT_EQ(name_of(*mpi), name);
    std::size_t calls = 0, wrong = 0;
    unsigned turn = 0;
    for_each_selection_context([&](const selection_context& one) {
      const selection_context s = varied(one, ++turn * 37);
      const auto made = peer_choice(*mpi, s);
      if (s.call.inter) {
        wrong += made.has_value();
        return;
      }
      ++calls;
      wrong +=
          !made || (made->composed.which != nullptr ? !permits(made->composed, s)
                                                    : made->pure.pure == nullptr || !permits(made->pure, s));
    });
    EXPECT_GT(calls, 300000u);
    EXPECT_EQ(wrong, 0u) << name;
  }
  EXPECT_FALSE(find_peer_mpi("open-mpi"));
}

TEST(peer_trees, are_whole_documents_but_no_engines) {
  for (const std::string_view name : peer_mpi_names()) {
    const std::string file = "peers/" + std::string(name);
    const read_result read = read_tree(builtin_tree(file), file, extent::whole);
    ASSERT_TRUE(read.good()) << read.faults.front().text();
    EXPECT_FALSE(read.made.machine.at("mpi").empty());
    EXPECT_FALSE(read.made.machine.at("source").empty());
    const auto listed = builtin_tree_names();
    EXPECT_EQ(std::find(listed.begin(), listed.end(), file), listed.end());
  }
}

}  // namespace
}  // namespace tutti::tuning
