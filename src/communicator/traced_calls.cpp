// SPDX-License-Identifier: Apache-2.0
//
// What a rank tells the trace (TUTTI_TRACE) of its calls.
#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

void rank_state::begin_trace() {
  if (set.trace.calls && ep->rank() == 0)
    trace = std::make_unique<call_trace>(set.trace.file, std::string(ep->engine()), ep->size());
}

void communicator_impl::note_call(const call& c, const prepared& p, planned* program, bool nonblocking,
                                  std::chrono::nanoseconds took) {
  call_kind kind = kind_of(c, p.composed, p.chosen, where_->id(), rank(), size(), inter());
  kind.nonblocking = nonblocking;
  shared_->trace->add(kind, bytes_of(c, send_block_count(c.what)), took);
  if (program != nullptr && !program->inside.empty()) shared_->trace->consists_of(kind, program->inside);
}

}  // namespace tutti::detail
