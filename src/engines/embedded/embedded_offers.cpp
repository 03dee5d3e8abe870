// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/embedded_offers.hpp"

#include "transport/shm/slices.hpp"

namespace tutti::detail {

native_offer embedded_offers(const agreed_signature& s, std::span<const std::string>) noexcept {
  const bool implemented = shm::slices_implement(s.what) || s.what == collective::barrier,
             // In place, results would overwrite operands that other ranks still read.
      overlaps = s.what == collective::reduce_scatter_block && s.in_place;
  return implemented && !overlaps ? native_offer::any : native_offer::none;
}

}  // namespace tutti::detail
