// SPDX-License-Identifier: Apache-2.0
#include "communicator/communicator_state.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::detail {

communicator_state::communicator_state(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where,
                                       topology shape)
    : shared_(std::move(shared)),
      members_(where->members()),
      where_(std::move(where)),
      name_{2, where_->id()},
      topology_(std::move(shape)) {}

int communicator_state::send_block_count(collective what) const noexcept {
  if (is_neighborhood(what)) return static_cast<int>(topology_.destinations.size());
  const int first = topology_.first_group, own = rank() < first ? first : size() - first;
  if (what == collective::reduce_scatter || what == collective::reduce_scatter_block)
    return inter() ? own : size();
  return inter() ? size() - own : size();
}

int communicator_state::recv_block_count(collective what) const noexcept {
  if (is_neighborhood(what)) return static_cast<int>(topology_.sources.size());
  return send_block_count(what);
}

// --- the engine's part

void communicator_state::open_first() {
  if (!where_) where_ = ep().open_locally(members_, name_);
  links_.emplace(*where_);
  if (!knows_all()) {  // no member knows the nodes of all others
    members_nodes_ = std::make_shared<const hierarchy>();
    nodes_ = members_nodes_.get();
    return;
  }
  const hierarchy& job = ep().topology();
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  bool whole = size() == ep().size();
  for (int r = 0; r < size(); ++r) {
    ranks[static_cast<std::size_t>(r)] = members_.address(r);
    whole = whole && members_.address(r) == r;
  }
  if (!whole) members_nodes_ = std::make_shared<const hierarchy>(job.restricted_to(ranks));
  nodes_ = whole ? &job : members_nodes_.get();
}

void communicator_state::close() noexcept {
  links_.reset();
  where_.reset();
}

// --- errors

void communicator_state::validate_usable(const char* operation) const {
  validate_thread(operation);
  if (freed_) reject(operation, "communicator", "was freed", "use it before free(), or a duplicate()");
}

void communicator_state::validate_knows_all(const char* operation) const {
  if (!knows_all())
    reject(operation, "communicator", "knows only " + std::string(description_of(members_.known_members())),
           "use its split(0), which knows all ranks");
}

void communicator_state::reject(const char* operation, const char* parameter, std::string_view problem,
                                const char* remedy) const {
  throw usage_error(current().name_or(operation), rank(), parameter, problem, remedy, place());
}

void communicator_state::reject_rank(const char* operation, const char* parameter, int rank) const {
  reject(operation, parameter,
         "is " + std::to_string(rank) + ", but ranks are 0 to " + std::to_string(size() - 1),
         "name a rank of this communicator");
}

void communicator_state::validate_entry_slow_path(const char* operation, const std::uint32_t* awaited) const {
  reject_thread(operation);
  if (shared_->calls_that_defer_rejections == 0) shared_->throw_rejections(operation, *this, awaited);
}

// Any thread may call, if the engine permits it: then nothing is rejected.
void communicator_state::reject_thread(const char* operation) const {
  if (shared_->may_call_here()) return;
  if (was_moved_from())
    reject(operation, "communicator", "was moved from",
           "use the communicator that it was moved to, or copy instead of moving");
  if (shared_->over())
    reject(operation, "communicator", "is used after its run has ended",
           "use it, and its requests, before the program that run() calls returns");
  // Not the enclosing call, which is one of the rank's own thread.
  const auto throw_foreign = [&](const std::string& problem, const char* remedy) {
    throw foreign_thread_error(operation, rank(), "communicator", problem, remedy, shared_->current.place);
  };
  if (shm::current_rank == &shm::kernel_identity)
    throw_foreign("is used in a kernel of a task",
                  "call it from the rank's own thread; a kernel uses the data that it is given");
  const std::string own = "rank " + std::to_string(shared_->self.rank);
  if (shm::current_rank != nullptr && shm::current_rank->rank >= 0)
    throw_foreign("belongs to " + own + ", but is used by " +
                      (shm::current_rank->rank == shared_->self.rank
                           ? "a rank of another run()"
                           : "rank " + std::to_string(shm::current_rank->rank)),
                  "use on each rank only the communicators that the rank was given or has created");
  throw_foreign("is used by a thread that does not run " + own,
                "call it from the thread that runs the rank's program, and pass the data of other threads "
                "to that thread");
}

bool communicator_state::release_on_other_thread(bool under_way, const char* operation) noexcept {
  if (shared_->over() || !under_way) return true;
  try {
    const usage_error what(operation, rank(), "request",
                           "is destroyed while it is in progress, by a thread that does not run rank " +
                               std::to_string(shared_->self.rank),
                           "wait for it on the thread that started it");
    if (ep().node() == nullptr) ep().kill_job(what.what());
    ep().abandon(std::make_exception_ptr(what));
  } catch (...) {
    // There is no memory for the text. The rank's next call may then wait forever.
  }
  return false;
}

// An error that the engine threw gets the source location of the call that it leaves.
void communicator_state::fail_job() noexcept {
  try {
    throw;
  } catch (error& e) {
    try {
      e.locate(place());
    } catch (const std::bad_alloc&) {  // it stays as it is
    }
  } catch (...) {
  }
  ep().abandon(std::current_exception());
}

void communicator_state::run_hops(const char* operation, const leg& one, const leg& other) {
  validate_usable(operation);
  open();
  hop both(*where_, *links_, operation);
  guarded([&] {
    both.begin(one);
    both.begin(other);
    if (shared_->active.empty())
      both.advance(true);
    else
      shared_->finish(both);
  });
}

}  // namespace tutti::detail
