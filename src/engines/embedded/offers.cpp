// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/offers.hpp"

#include "fabric/slices.hpp"

namespace tutti {

bool embedded_offers(const agreed_signature& s) noexcept {
  if (s.what == collective::reduce_scatter_block && s.in_place)
    return false;  // a rank's result lies on others' operands
  return fabric::slices_know(s.what) || s.what == collective::barrier;
}

}  // namespace tutti
