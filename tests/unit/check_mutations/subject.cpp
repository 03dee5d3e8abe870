// SPDX-License-Identifier: Apache-2.0
//
// The algorithms that are mutated. The test also detects wrong claims of theirs.
#include "unit/check_mutations/subject.hpp"

#include <stdexcept>

namespace tutti::proof {

const pure_algorithm& algorithm(std::string_view name) {
  for (const pure_algorithm* a : catalogue())
    if (a->name == name) return *a;
  throw std::invalid_argument(std::string(name));
}

// Removes step `at` from its round.
schedule without(schedule s, std::uint32_t at) {
  for (item& i : s.items) {
    if (i.kind != item_kind::round) continue;
    if (at < i.first) {
      --i.first;
    } else if (at < i.first + i.sends) {
      --i.sends;
    } else if (at < i.first + i.sends + i.recvs) {
      --i.recvs;
    } else if (at < i.first + i.sends + i.recvs + i.locals) {
      --i.locals;
    }
  }
  s.steps.erase(s.steps.begin() + at);
  return s;
}

namespace {

constexpr std::string_view subjects[] = {"allgather/bruck",
                                         "allgather/linear",
                                         "allgather/ring",
                                         "allgather/sparbit",
                                         "allgatherv/circulant",
                                         "allgatherv/ring",
                                         "allreduce/across",
                                         "allreduce/dual_root",
                                         "allreduce/rabenseifner",
                                         "allreduce/recursive_doubling",
                                         "allreduce/ring",
                                         "allreduce/segmented_ring",
                                         "alltoall/across",
                                         "alltoall/bruck",
                                         "alltoall/pairwise",
                                         "alltoall/scattered",
                                         "alltoallv/in_place_pairwise",
                                         "alltoallv/scattered",
                                         "alltoallw/scattered",
                                         "barrier/dissemination",
                                         "bcast/across",
                                         "bcast/chain",
                                         "bcast/knomial",
                                         "bcast/scatter_ring",
                                         "exscan/recursive_doubling",
                                         "gather/knomial",
                                         "gatherv/knomial",
                                         "gatherv/linear",
                                         "neighbor_allgatherv/scattered",
                                         "neighbor_alltoallv/scattered",
                                         "reduce/chain",
                                         "reduce/knomial",
                                         "reduce/rabenseifner",
                                         "reduce_scatter/butterfly",
                                         "reduce_scatter/pairwise",
                                         "reduce_scatter/recursive_doubling",
                                         "reduce_scatter/recursive_halving",
                                         "reduce_scatter_block/ring",
                                         "scan/recursive_doubling",
                                         "scatter/knomial",
                                         "scatterv/linear"};

INSTANTIATE_TEST_SUITE_P(all, mutations, testing::ValuesIn(subjects), [](const auto& info) {
  std::string name(info.param);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace

}  // namespace tutti::proof
