// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/communicator_table.hpp"

#include <algorithm>

namespace tutti::preload {
namespace {

// Matches no call, because no count lies in its interval.
const cached_decision none{.min_count = -0x7fffffff, .span = 0};

// Computes the ranks of `comm` in MPI_COMM_WORLD. Returns false if it has other processes (of
// programs that were spawned or connected).
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

communicator_info::communicator_info() { reset_forwarded(); }

void communicator_info::reset_forwarded() noexcept {
  for (auto& p : last_forwarded) p.store(&none, std::memory_order_release);
}

void communicator_table::reset_forwarded() noexcept {
  const auto held = mutex_.lock();
  for (auto& [key, one] : all_) one->reset_forwarded();
}

bool is_within_world(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  return within_world(comm, ranks);
}

communicator_table::communicator_table(error_handlers& handlers, communicator_names& names,
                                       bool multithreaded)
    : handlers_(handlers), names_(names), multithreaded_(multithreaded), mutex_(multithreaded) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &delete_attribute, &keyval_, this);
}

communicator_table::~communicator_table() {
  int over = 0;
  if (PMPI_Finalized(&over) == MPI_SUCCESS && !over) PMPI_Comm_free_keyval(&keyval_);
}

std::shared_ptr<communicator_info> communicator_table::find_or_add(MPI_Comm comm,
                                                                   const mpi::mpi_endpoint& world) {
  if (comm == MPI_COMM_NULL) return nullptr;
  {
    const auto held = mutex_.lock();
    const auto at = all_.find(comm);
    if (at != all_.end()) {
      communicator_cache::slot_of(comm).store(at->second.get(), std::memory_order_release);
      return at->second;
    }
  }
  {
    // MPI reports an invalid handle, in the name of the program's call.
    const quiet_errors guard(handlers_);
    int found = 0;
    void* value = nullptr;
    if (PMPI_Comm_get_attr(comm, keyval_, &value, &found) != MPI_SUCCESS) return nullptr;
  }
  auto made = std::make_shared<communicator_info>();
  made->comm = comm;
  int between_groups = 0;
  PMPI_Comm_test_inter(comm, &between_groups);
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Comm_size(comm, &made->size);
  std::vector<int> ranks(static_cast<std::size_t>(made->size));
  const std::optional<group_name> name = names_.find(comm);
  if (!between_groups && name && within_world(comm, ranks)) {
    made->served = true;
    // The communicators of one call share a name.
    made->name = name->with(static_cast<std::uint64_t>(ranks[0]));
    made->topology = world.topology().restricted_to(ranks);
    made->ranks = group::of(std::move(ranks), made->rank);
  }
  {
    const auto held = mutex_.lock();
    const auto [at, first] = all_.emplace(comm, made);
    if (!first) return at->second;  // another thread made it
  }
  if (PMPI_Comm_set_attr(comm, keyval_, made.get()) != MPI_SUCCESS) return nullptr;
  communicator_cache::slot_of(comm).store(made.get(), std::memory_order_release);
  return made;
}

bool communicator_table::is_alive(const communicator_info& one) {
  const auto held = mutex_.lock();
  const auto at = all_.find(one.comm);
  return at != all_.end() && at->second.get() == &one;
}

void communicator_table::remove(communicator_info* one) {
  communicator_info* mine = one;
  communicator_cache::slot_of(one->comm).compare_exchange_strong(mine, nullptr);
  std::shared_ptr<communicator_info> last;  // destroyed after the lock is released
  const auto held = mutex_.lock();
  const auto at = all_.find(one->comm);
  if (at == all_.end() || at->second.get() != one) return;
  last = std::move(at->second);
  all_.erase(at);
  if (last->impl || last->comparison_impl)
    freed_.push_back(last);
  else if (multithreaded_)
    retired_.push_back(last);
}

// MPI calls it, perhaps while it holds a lock. So objects are destroyed later.
int communicator_table::delete_attribute(MPI_Comm, int, void* value, void* extra) {
  static_cast<communicator_table*>(extra)->remove(static_cast<communicator_info*>(value));
  return MPI_SUCCESS;
}

// Another thread may have just found the entry in the table and still read its handle. So the entry
// stays, without its large parts.
void communicator_table::retire(std::shared_ptr<communicator_info> one) {
  if (!multithreaded_) return;
  if (one.use_count() == 1) {
    one->impl = {};
    one->comparison_impl = {};
    one->translated.reset();
  }
  const auto held = mutex_.lock();
  retired_.push_back(std::move(one));
}

void communicator_table::destroy_freed() {
  std::vector<std::shared_ptr<communicator_info>> some;
  {
    const auto held = mutex_.lock();
    some.swap(freed_);
  }
  for (auto& one : some) retire(std::move(one));
}

void communicator_table::destroy_all() {
  std::vector<std::shared_ptr<communicator_info>> rest;
  {
    const auto held = mutex_.lock();
    for (auto& [key, one] : all_) rest.push_back(one);
  }
  // delete_attribute() removes the entry.
  for (const auto& one : rest) PMPI_Comm_delete_attr(one->comm, keyval_);
  rest.clear();
  destroy_freed();
  retired_.clear();
}

}  // namespace tutti::preload
