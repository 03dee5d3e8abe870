// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/address_calls.hpp"

#include <utility>

#include "engines/mpi/mpi_endpoint.hpp"

namespace tutti::mpi {

shm::remote_read address_environment::read(int rank, void* to, std::uint64_t address,
                                           std::size_t bytes) const {
  int error = 0;
  const shm::remote_read got =
      ep.memory().segment().confirmed(memory::read_remote(ep.memory().pid(rank), to, address, bytes, error));
  if (got == shm::remote_read::refused) ep.memory().report_refusal(ep.rank(), ep.job_rank_of(rank), error);
  return got;
}

address_calls::address_calls(mpi_endpoint& ep, node_memory::collectives& of, std::uint32_t number,
                             address_steps<address_environment>::mismatch on_mismatch)
    : steps_({ep}, of, ep, number, std::move(on_mismatch)) {
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const auto what = static_cast<collective>(i);
    const std::size_t limit = ep.memory().min_bytes_by_address(what, ep.is_oversubscribed());
    from_[i] = detail::min_call_by_address(what, limit, of.size());
  }
}

bool address_calls::advance(const call& c, memory_progress& p, bool overlaps) {
  return steps_.advance(c, p, overlaps);
}

}  // namespace tutti::mpi
