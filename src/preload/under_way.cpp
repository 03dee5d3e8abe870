// SPDX-License-Identifier: Apache-2.0
#include "preload/under_way.hpp"

#include <algorithm>
#include <utility>

#include <sched.h>

#include "preload/process.hpp"
#include "preload/serve.hpp"
#include "trace/trace.hpp"

namespace tutti::preload {

// MPI frees it when the request is complete and the program has let go of it, in either order.
struct under_way::one {
  std::shared_ptr<member> of;  // the program may free the communicator meanwhile
  std::unique_ptr<laid_call> laid;
  detail::pending_call run;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  std::chrono::steady_clock::time_point began;
};

under_way::~under_way() = default;

int under_way::query(void* extra, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const one*>(extra)->code;
}

int under_way::let_go(void* extra) {
  delete static_cast<one*>(extra);
  return MPI_SUCCESS;
}

int under_way::cancel(void*, int) { return MPI_SUCCESS; }  // a collective cannot be cancelled

void under_way::begin(std::shared_ptr<member> of, std::unique_ptr<laid_call> laid, MPI_Request* request) {
  auto o = std::make_unique<one>();
  o->of = std::move(of);
  o->laid = std::move(laid);
  o->laid->hold();
  o->began = std::chrono::steady_clock::now();
  PMPI_Grequest_start(&query, &let_go, &cancel, o.get(), &o->request);
  *request = o->request;
  one& begun = *o.release();
  const auto mine = p_.turn.take();
  try {
    begun.run = detail::start_call(*begun.of->core, begun.laid->made());
  } catch (...) {
    return finish(begun, code_of_error());
  }
  all_.push_back(&begun);
  count_.store(all_.size(), std::memory_order_relaxed);
}

void under_way::go_on() {
  const auto mine = p_.turn.take();
  for (std::size_t i = 0; i < all_.size();) {
    one& o = *all_[i];
    int code = MPI_SUCCESS;
    try {
      if (!o.run->test()) {
        ++i;
        continue;
      }
    } catch (...) {
      code = code_of_error();
    }
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    count_.store(all_.size(), std::memory_order_relaxed);
    finish(o, code);
  }
}

void under_way::finish(one& o, int code) {
  o.run.reset();
  const call& c = o.laid->made();
  if (p_.told)
    p_.told->add(c.what, true, detail::last_algorithm(*o.of->core, c.what), detail::bytes_of(c, o.of->size),
                 std::chrono::steady_clock::now() - o.began);
  if (code == MPI_SUCCESS) o.laid->finish();
  o.laid->let_go();
  o.of.reset();
  o.code = code;
  PMPI_Grequest_complete(o.request);
}

void under_way::wait_all() {
  for (patience p; !none(); p.pause()) go_on();
}

void patience::pause() noexcept {
  if (++tries_ > 64) sched_yield();
}

}  // namespace tutti::preload
