// SPDX-License-Identifier: Apache-2.0
//
// Tests which built-in trees a job over MPI has, and when the network decides although ranks
// share cores.
#include "engines/mpi/job_trees.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace tutti::mpi;

TEST(job_trees, follow_nodes_network_and_preference) {
  for (const bool over_mpich : {false, true}) {
    const std::string mpi = over_mpich ? "mpich" : "open_mpi";
    EXPECT_EQ(trees_of_job(1, network_speed::slow, false, over_mpich), "mpi");
    EXPECT_EQ(trees_of_job(2, network_speed::fast, true, over_mpich), "mpi");
    EXPECT_EQ(trees_of_job(2, network_speed::fast, false, over_mpich), mpi + "-fast-network");
    EXPECT_EQ(trees_of_job(2, network_speed::unknown, false, over_mpich), mpi + "-fast-network");
    EXPECT_EQ(trees_of_job(2, network_speed::slow, false, over_mpich), mpi + "-slow-network");
  }
}

TEST(job_trees, the_network_of_a_message) {
  EXPECT_EQ(network_speed_of(0), network_speed::fast);  // not known
  EXPECT_EQ(network_speed_of(1.5), network_speed::fast);
  EXPECT_EQ(network_speed_of(25), network_speed::slow);
}

// A rank waits for the turns of the others on its core. With two ranks on a core, a network of
// 100 us decides, and one of 20 us does not.
TEST(job_trees, a_network_decides_if_it_takes_longer_than_the_other_ranks_of_a_core) {
  EXPECT_TRUE(is_network_bound(100, 2));
  EXPECT_FALSE(is_network_bound(100, 3));
  EXPECT_FALSE(is_network_bound(20, 2));
  EXPECT_FALSE(is_network_bound(1, 1));
}

}  // namespace
