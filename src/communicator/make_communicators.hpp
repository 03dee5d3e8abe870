// SPDX-License-Identifier: Apache-2.0
//
// Makes the first communicators of a rank: for the launch, tuning, and preload, which executes the
// calls of a program that starts MPI itself.
#pragma once

#include <cstdint>
#include <memory>

#include "base/group/group_name.hpp"
#include "base/group/rank_list.hpp"
#include "communicator/topology.hpp"
#include "transport/endpoint.hpp"
#include "tutti/detail/owner.hpp"

namespace tutti::detail {

struct rank_state;
struct selection;
struct settings;

/// Makes the state that all communicators of one rank share, in a program that starts MPI itself.
/// All threads may call, one at a time. `engine_conditions`: see engine_conditions_of().
std::shared_ptr<rank_state> make_rank_state(std::unique_ptr<endpoint> ep, const settings& config,
                                            std::shared_ptr<const selection> by,
                                            std::uint32_t engine_conditions);

/// All ranks of the job. Collective over them, and open.
communicator_handle make_world(const std::shared_ptr<rank_state>& shared);
/// Members that all compute the same name, which no other group has. Local.
communicator_handle make_group(const std::shared_ptr<rank_state>& shared, const group& members,
                               const group_name& name);
/// Over a context that the caller has opened.
communicator_handle make_over(const std::shared_ptr<rank_state>& shared, std::unique_ptr<context> where,
                              topology shape = {});
/// Collective. Throws mismatch_error if ranks have other decision trees or overrides.
void compare_settings(communicator_impl&);

}  // namespace tutti::detail
