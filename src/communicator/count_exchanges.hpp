// SPDX-License-Identifier: Apache-2.0
//
// The exchanges of counts, of one std::size_t for each rank, by which a call gets parameters that
// the program leaves out. docs/parameters.md is made from this table. The calls do not read it
// (families.hpp and vector_families.hpp have the code); tests/spmd/api_count_exchanges.cpp compares
// both.
#pragma once

#include "tutti/collective.hpp"
#include "tutti/detail/parameter_table.hpp"

namespace tutti::detail {

struct exchange_of_counts {
  collective of;
  parameter left_out;
  parameter or_this;  ///< if this is given, there is no exchange; unnamed: no such parameter
  collective by;      ///< for neighbors: the collective itself
};

inline constexpr exchange_of_counts exchanges_of_counts[] = {
    {collective::bcast, parameter::send_recv_count, parameter::unnamed, collective::bcast},
    {collective::gatherv, parameter::recv_counts, parameter::unnamed, collective::gather},
    {collective::scatter, parameter::recv_count, parameter::send_recv_count, collective::bcast},
    {collective::scatterv, parameter::recv_count, parameter::unnamed, collective::scatter},
    {collective::allgatherv, parameter::recv_counts, parameter::unnamed, collective::allgather},
    {collective::alltoallv, parameter::recv_counts, parameter::unnamed, collective::alltoall},
    {collective::scatterv, parameter::send_counts, parameter::unnamed, collective::gather},
    {collective::alltoallv, parameter::send_counts, parameter::unnamed, collective::alltoall},
    {collective::neighbor_allgatherv, parameter::recv_counts, parameter::unnamed,
     collective::neighbor_allgatherv},
    {collective::neighbor_alltoallv, parameter::recv_counts, parameter::unnamed,
     collective::neighbor_alltoallv},
};

}  // namespace tutti::detail
