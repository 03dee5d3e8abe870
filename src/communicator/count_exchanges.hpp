// SPDX-License-Identifier: Apache-2.0
//
// What calls learn by communication where it is left out: the exchanges of counts, of one std::size_t a rank.
// The calls themselves do not read this table (families.hpp says it in their code); docs/parameters.md is
// made of it, and tests/spmd/api_exchanges.cpp holds the two together.
#pragma once

#include "tutti/collective.hpp"
#include "tutti/detail/parameter_table.hpp"

namespace tutti::detail {

struct exchange_of_counts {
  collective of;
  parameter left_out;
  parameter or_this;  ///< it is not made either where this is given; unnamed: there is no such
  collective by;      ///< of neighbours: itself
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
