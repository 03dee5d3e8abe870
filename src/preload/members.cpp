// SPDX-License-Identifier: Apache-2.0
#include "preload/members.hpp"

#include <algorithm>

namespace tutti::preload {
namespace {

// Matches no call: no count is among so few.
const verdict none{.least = -0x7fffffff, .span = 0};

// The ranks of MPI_COMM_WORLD that `comm` has; false where it has others (of programs that were spawned or
// connected).
bool within_world(MPI_Comm comm, std::vector<int>& ranks) {
  MPI_Group own_group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  bool fits = PMPI_Comm_group(comm, &own_group) == MPI_SUCCESS &&
              PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS;
  std::vector<int> mine(ranks.size());
  for (std::size_t r = 0; r < mine.size(); ++r) mine[r] = static_cast<int>(r);
  fits = fits && PMPI_Group_translate_ranks(own_group, static_cast<int>(mine.size()), mine.data(), world,
                                            ranks.data()) == MPI_SUCCESS;
  if (own_group != MPI_GROUP_NULL) PMPI_Group_free(&own_group);
  if (world != MPI_GROUP_NULL) PMPI_Group_free(&world);
  return fits && std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end();
}

}  // namespace

member::member() { leave_none(); }

void member::leave_none() noexcept {
  for (auto& p : passing) p.store(&none, std::memory_order_release);
}

void members::leave_none() noexcept {
  const auto held = lock_.take();
  for (auto& [key, one] : all_) one->leave_none();
}

bool is_within_world(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  return within_world(comm, ranks);
}

members::members(error_handlers& handlers, names& named, bool several)
    : handlers_(handlers), named_(named), several_(several), lock_(several) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &freed, &keyval_, this);
}

members::~members() {
  int over = 0;
  if (PMPI_Finalized(&over) == MPI_SUCCESS && !over) PMPI_Comm_free_keyval(&keyval_);
}

std::shared_ptr<member> members::of(MPI_Comm comm, const mpi::mpi_endpoint& world) {
  if (comm == MPI_COMM_NULL) return nullptr;
  {
    const auto held = lock_.take();
    const auto at = all_.find(comm);
    if (at != all_.end()) {
      members_at_hand::place_of(comm).store(at->second.get(), std::memory_order_release);
      return at->second;
    }
  }
  {
    // A handle that is none is for MPI to tell of, in the name of the program's call.
    const quiet_errors guard(handlers_);
    int found = 0;
    void* value = nullptr;
    if (PMPI_Comm_get_attr(comm, keyval_, &value, &found) != MPI_SUCCESS) return nullptr;
  }
  auto made = std::make_shared<member>();
  made->comm = comm;
  int between_groups = 0;
  PMPI_Comm_test_inter(comm, &between_groups);
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Comm_size(comm, &made->size);
  std::vector<int> ranks(static_cast<std::size_t>(made->size));
  const std::optional<group_name> name = named_.of(comm);
  if (!between_groups && name && within_world(comm, ranks)) {
    made->served = true;
    made->name = name->with(static_cast<std::uint64_t>(ranks[0]));  // parts of one call have one name
    made->layout = world.layout().restricted_to(ranks);
    made->ranks = group::of(std::move(ranks), made->rank);
  }
  {
    const auto held = lock_.take();
    const auto [at, first] = all_.emplace(comm, made);
    if (!first) return at->second;  // another thread's
  }
  if (PMPI_Comm_set_attr(comm, keyval_, made.get()) != MPI_SUCCESS) return nullptr;
  members_at_hand::place_of(comm).store(made.get(), std::memory_order_release);
  return made;
}

bool members::lives(const member& one) {
  const auto held = lock_.take();
  const auto at = all_.find(one.comm);
  return at != all_.end() && at->second.get() == &one;
}

void members::forget(member* one) {
  member* mine = one;
  members_at_hand::place_of(one->comm).compare_exchange_strong(mine, nullptr);
  std::shared_ptr<member> last;  // goes behind the lock
  const auto held = lock_.take();
  const auto at = all_.find(one->comm);
  if (at == all_.end() || at->second.get() != one) return;
  last = std::move(at->second);
  all_.erase(at);
  if (last->core || last->compared)
    gone_.push_back(last);
  else if (several_)
    graves_.push_back(last);
}

// Called by MPI, perhaps under a lock of its own: what is to be freed is freed later.
int members::freed(MPI_Comm, int, void* value, void* extra) {
  static_cast<members*>(extra)->forget(static_cast<member*>(value));
  return MPI_SUCCESS;
}

// Another thread may have found a member in the table the moment before, and looks whose it is: what remains
// then is small.
void members::bury(std::shared_ptr<member> one) {
  if (!several_) return;
  if (one.use_count() == 1) {
    one->core = {};
    one->compared = {};
    one->laid.reset();
  }
  const auto held = lock_.take();
  graves_.push_back(std::move(one));
}

void members::let_go() {
  std::vector<std::shared_ptr<member>> some;
  {
    const auto held = lock_.take();
    some.swap(gone_);
  }
  for (auto& one : some) bury(std::move(one));
}

void members::let_all_go() {
  std::vector<std::shared_ptr<member>> rest;
  {
    const auto held = lock_.take();
    for (auto& [key, one] : all_) rest.push_back(one);
  }
  for (const auto& one : rest) PMPI_Comm_delete_attr(one->comm, keyval_);  // freed() lets go
  rest.clear();
  let_go();
  graves_.clear();
}

}  // namespace tutti::preload
