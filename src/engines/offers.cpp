// SPDX-License-Identifier: Apache-2.0
#include "engines/offers.hpp"

#include "fabric/slices.hpp"

namespace tutti {

bool embedded_offers(const agreed_signature& s) noexcept {
  if (s.what == collective::reduce_scatter_block && s.in_place)
    return false;  // a rank's result lies on others' operands
  return fabric::slices_know(s.what) || s.what == collective::barrier;
}

bool engine_offers(std::string_view engine, const agreed_signature& s) noexcept {
  if (s.inter) return false;
  return engine == "mpi" ? mpi_offers(s) : embedded_offers(s);
}

}  // namespace tutti
