// SPDX-License-Identifier: Apache-2.0
#include "communicator/make_communicators.hpp"

#include <utility>

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

std::shared_ptr<rank_state> make_rank_state(std::unique_ptr<endpoint> ep, const settings& config,
                                            std::shared_ptr<const selection> by,
                                            std::uint32_t engine_conditions) {
  auto made = std::make_shared<rank_state>();
  made->config = config;
  made->owned = std::move(ep);
  made->use(*made->owned);
  made->any_thread = true;
  made->by = std::move(by);
  made->engine_conditions = engine_conditions;
  made->begin_trace();
  // Allocates the counters, which several threads of a program may use (count_obeyed()).
  static_cast<void>(made->use_of(collective::barrier, override_kind::algorithm));
  return made;
}

communicator_handle make_world(const std::shared_ptr<rank_state>& shared) {
  endpoint& ep = *shared->ep;
  return make_over(shared, ep.open(group::range(0, 1, ep.size(), ep.rank()), 1, nullptr));
}
communicator_handle make_over(const std::shared_ptr<rank_state>& shared, std::unique_ptr<context> where,
                              topology shape) {
  return communicator_handle(new communicator_impl(shared, std::move(where), std::move(shape)));
}
communicator_handle make_group(const std::shared_ptr<rank_state>& shared, const group& members,
                               const group_name& name) {
  return communicator_impl::make(shared, members, name);
}
void compare_settings(communicator_impl& c) { compare_settings(c.state(), c.calls()); }

}  // namespace tutti::detail
