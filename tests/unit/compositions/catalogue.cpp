// SPDX-License-Identifier: Apache-2.0
//
// Proves every composition of the catalogue with symbols, over topologies, ranks, roots, counts and
// operators.
#include "unit/compositions/every_composition.hpp"

namespace tutti::proof {
namespace {

class composition : public on_every_composition {};

TEST_P(composition, gives_what_its_collective_defines) {
  proof_result all;
  for (int p = 1; p <= 17; ++p) all += prove(*GetParam(), p);
  all += prove(*GetParam(), 96);
  all += prove(*GetParam(), 101);
  for (const finding& f : all.findings)
    ADD_FAILURE() << f.algorithm << ": " << f.call << "\n  rank " << f.what.rank << ", step " << f.what.round
                  << ": " << f.what.what;
  EXPECT_GT(all.calls, 40u);
}

INSTANTIATE_TEST_SUITE_P(catalogue, composition, on_every_composition::all(), on_every_composition::name);

}  // namespace
}  // namespace tutti::proof
