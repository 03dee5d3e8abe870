// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/mpi_endpoint.hpp"

#include <algorithm>
#include <stdexcept>

#include <sched.h>
#include <time.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/mpi/group_context.hpp"
#include "engines/mpi/memory_collectives.hpp"
#include "engines/mpi/mpi_context.hpp"
#include "transport/shm/length_mismatch.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

// Delegates to a constructor, so that the destructor frees what was made before an error.
mpi_endpoint::mpi_endpoint(MPI_Comm job, bool check_calls, MPI_Comm shared) : mpi_endpoint() {
  shared_ = shared;
  check(MPI_Comm_dup(job, &job_), "run", -1);
  MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(job_, &control_), "run", -1);
  MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
  if (shared == MPI_COMM_NULL) {
    check(MPI_Comm_dup(job_, &p2p_), "run", -1);
    MPI_Comm_set_errhandler(p2p_, MPI_ERRORS_RETURN);
  }
  check(MPI_Comm_dup(job_, &groups_), "run", -1);
  MPI_Comm_set_errhandler(groups_, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(job_, &rank_), "run", -1);
  check(MPI_Comm_size(job_, &size_), "run", rank_);
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "run", rank_);
  any_thread_ = level >= MPI_THREAD_SERIALIZED;
  int* limit = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found), "run", rank_);
  if (!found || *limit < 32767)
    throw engine_error("run", rank_, "", "this MPI does not allow tags up to 32767", "");
  max_tag_ = *limit;
  for (tag_mask_ = 32767; tag_mask_ <= (*limit - 1) / 2;) tag_mask_ = 2 * tag_mask_ + 1;
  types_.emplace(rank_);
  // An exception here would leave the other ranks waiting in discover_topology(), so it is thrown
  // there.
  double timeout = 10;
  std::exception_ptr settings_error;
  node_settings requested;
  requested.several_threads = level == MPI_THREAD_MULTIPLE;
  try {
    requested.use_of_memory = memory_use_setting();
    if (setting("TUTTI_SHM") == "heap") shm::shared_arena::expect();
    requested.network = network_setting();
    requested.prefers_native = native_is_preferred();
    requested.inner_levels = switch_setting("TUTTI_NODE_LEVELS", true);
    if (check_calls || size_ > 1)
      timeout = static_cast<double>(number_setting("TUTTI_DEADLOCK_AFTER", 1, 86400, 10));
  } catch (const usage_error&) {
    settings_error = std::current_exception();
  }
  failure_monitor_.emplace(control_, check_calls, timeout);
  messages_.reserve(64);
  progress_since_ = last_poll_ = waiting_since_ = seconds_now();
  discover_topology(settings_error, requested);
  if (!check_calls && size_ > 1) long_wait_.emplace(*this, native_, timeout);
}

mpi_endpoint::~mpi_endpoint() {
  unregister_progress();
  const struct leave_list {
    mpi_endpoint& ep;
    ~leave_list() { std::erase(with_node_memory_, &ep); }
  } last{*this};
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  end_p2p();  // frees some of opened_
  for (MPI_Comm& c : opened_) MPI_Comm_free(&c);
  group_messages_.reset();
  if (groups_ != MPI_COMM_NULL) MPI_Comm_free(&groups_);
  if (p2p_ != MPI_COMM_NULL) MPI_Comm_free(&p2p_);
  if (control_ != MPI_COMM_NULL) MPI_Comm_free(&control_);
  if (job_ != MPI_COMM_NULL) MPI_Comm_free(&job_);
}

void mpi_endpoint::free_comm(MPI_Comm comm) noexcept {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  if (failure_monitor_->failed()) return;
  std::erase(opened_, comm);
  MPI_Comm_free(&comm);
}

MPI_Comm mpi_endpoint::duplicate(MPI_Comm from, std::uint64_t id) {
  const shm::wait_site site{"making a communicator", "", "all members of the old one", -1, -1, id};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  check(MPI_Comm_idup(from, &made, &request), "making a communicator", rank_);
  wait_for_native(request, "making a communicator", site);
  return made;
}

// All members have agreed on the id of the new communicator, so all are here. Nothing else needs
// progress meanwhile. The job's own communicator already exists. A child with the same members is a
// duplicate, so that MPI keeps what it knows of the topology. Any other one is made by its members
// only.
std::unique_ptr<context> mpi_endpoint::open(const group& members, std::uint64_t id, context* parent) {
  if (parent == nullptr) {
    if (members.size() != size_)
      throw std::logic_error("a communicator over part of an MPI job can only be made from an existing one");
    if (shared_ != MPI_COMM_NULL)
      return std::make_unique<mpi_context>(*this, members, id, job_, shared_, comm_owner::program);
    return std::make_unique<mpi_context>(*this, members, id, job_, p2p_, comm_owner::endpoint);
  }
  const group& old = parent->members();
  const auto ok = [&](int code) { check(code, "making a communicator", rank_); };
  const auto* from = dynamic_cast<const mpi_context*>(parent);  // null: it has no MPI communicator
  bool same = from != nullptr && old.size() == members.size();
  for (int r = 0; same && r < members.size(); ++r) same = old.address(r) == members.address(r);
  MPI_Comm made = MPI_COMM_NULL;
  if (same) {
    made = duplicate(from->comm(), id);
  } else {
    std::vector<int> ranks(static_cast<std::size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) ranks[static_cast<std::size_t>(r)] = members.address(r);
    MPI_Group all, some;
    ok(MPI_Comm_group(job_, &all));
    ok(MPI_Group_incl(all, members.size(), ranks.data(), &some));
    ok(MPI_Comm_create_group(job_, some, static_cast<int>(id % 32767), &made));
    MPI_Group_free(&some);
    MPI_Group_free(&all);
  }
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  opened_.push_back(made);
  opened_.push_back(duplicate(made, id));
  MPI_Comm_set_errhandler(opened_.back(), MPI_ERRORS_RETURN);
  return std::make_unique<mpi_context>(*this, members, id, made, opened_.back(), comm_owner::context);
}

std::unique_ptr<context> mpi_endpoint::open_locally(const group& members, const group_name& name) {
  if (!group_messages_) group_messages_ = std::make_unique<group_messages>(*this, groups_);
  return std::make_unique<group_context>(*this, *group_messages_, members, name.a, name);
}

std::unique_ptr<memory_collectives> mpi_endpoint::open_memory_collectives(const group& members,
                                                                          const group_name& name,
                                                                          std::optional<group_entry>& entry) {
  if (!node_memory_.is_open() || members.size() < 2) return nullptr;
  std::vector<int> ranks;
  for (int r = 0; r < members.size(); ++r) {
    ranks.push_back(rank_on_node_[static_cast<std::size_t>(members.address(r))]);
    if (ranks.back() < 0) return nullptr;
  }
  if (!entry) entry.emplace(node_memory_, name);
  return std::make_unique<memory_collectives>(*this, entry->number(),
                                              entry->collectives(ranks, members.rank()));
}

int mpi_endpoint::job_rank_of(int rank_on_node) const noexcept {
  const auto found = std::find(rank_on_node_.begin(), rank_on_node_.end(), rank_on_node);
  return static_cast<int>(found - rank_on_node_.begin());
}

void mpi_endpoint::grow() {
  const auto index = static_cast<std::uint32_t>(messages_.size());
  message fresh{};
  fresh.request = MPI_REQUEST_NULL;
  fresh.generation = none;
  messages_.push_back(fresh);
  free_ = index;
}

void mpi_endpoint::pause_slowly(const shm::wait_site& site) {
  if (wait_ != nullptr) progress_in_wait(*wait_);
  if (oversubscribed_)
    pause_oversubscribed(site);
  else if ((++pauses_ & 1023) == 0)
    poll_failures(site);
}

// With more ranks than cores, the rank that is waited for needs this core. After a long wait this
// rank sleeps.
void mpi_endpoint::pause_oversubscribed(const shm::wait_site& site) {
  sched_yield();
  const double now = seconds_now();
  if (now - last_poll_ < 1e-3) return;
  poll_failures(site);
  if (now - progress_since_ > 0.1) {
    const timespec little{0, 200'000};
    nanosleep(&little, nullptr);
  }
}

void mpi_endpoint::poll_failures(const shm::wait_site& site) {
  if (node_p2p_) progress_on_node();
  const double now = seconds_now();
  // A waiting rank polls all the time. A rank that has computed in between begins a new wait.
  if (progress_ != progress_seen_ || now - last_poll_ > 1) waiting_since_ = now;
  last_poll_ = now;
  if (progress_ != progress_seen_) {
    progress_seen_ = progress_;
    progress_since_ = now;
  }
  failure_monitor_->poll();
  if (peer_watch_ && !failure_monitor_->failed())
    if (const auto loss = peer_watch_->look(now)) end_job_after(*loss);
  if (failure_monitor_->checks())
    failure_monitor_->report_idle(&site, current_call(), now - progress_since_, progress_);
  if (long_wait_) long_wait_->waited(site, now - waiting_since_);
  if (failure_monitor_->failed()) throw_failure(site);
}

void mpi_endpoint::throw_failure(const shm::wait_site& site) {
  if (!serves_peers()) wait_aborted_ = true;
  const detail::current_call now = current_call();
  const char* const operation = now.name_or(site.operation);
  if (node_memory_.is_open()) node_memory_.segment().leave_calls();
  if (failure_monitor_->deadlock())
    abandon_and_throw(deadlock_error(operation, rank_, "", failure_monitor_->text(), ""));
  abandon_and_throw(peer_error(operation, rank_, "",
                               "rank " + std::to_string(failure_monitor_->failed_rank()) + " failed (" +
                                   std::string(without_prefix(failure_monitor_->text())) + ")",
                               "this rank's wait was ended"));
}

// Ends every message in progress, because the exception may free the buffers. Receives are
// cancelled. Sends cannot be cancelled. But every rank that knows of the failure receives what is
// sent to it, so they complete.
void mpi_endpoint::abandon(const char* why) {
  if (group_messages_) group_messages_->cancel_receives();
  if (failure_monitor_->failed())
    drop_on_node();
  else if (node_messages_ && !(node_p2p_->release_buffers() && node_messages_->release_buffers()))
    end_job(rank_, why);
  for (std::uint32_t index = 0; index < messages_.size(); ++index) {
    message& m = messages_[index];
    if (m.busy && m.unmatched)
      end_message(index);
    else if (m.busy && m.receives && m.request != MPI_REQUEST_NULL)
      MPI_Cancel(&m.request);
  }
  const double deadline = seconds_now() + 2;
  for (;;) {
    bool waiting = false;
    for (std::uint32_t index = 0; index < messages_.size(); ++index) {
      message& m = messages_[index];
      if (!m.busy) continue;
      int flag = 0;
      if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) flag = 1;
      if (flag)
        end_message(index);
      else
        waiting = true;
    }
    if (!waiting) return;
    if (!failure_monitor_->failed()) failure_monitor_->poll();
    if (failure_monitor_->failed()) drain();
    if (seconds_now() > deadline) {
      if (failure_monitor_->failed()) end_job(failure_monitor_->failed_rank(), failure_monitor_->text());
      end_job(rank_, why);
    }
    sched_yield();
  }
}

// Whether a send is in progress, whose buffer may already be freed.
bool mpi_endpoint::open_sends() {
  for (message& m : messages_) {
    int flag = 0;
    if (!m.busy || m.receives) continue;
    if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || !flag) return true;
  }
  return false;
}

// Starts the receive if its message has arrived and has the right length. Open MPI 4.1 writes a
// message that is too long beyond the end of the buffer before it reports the error. This function
// detects that before. Receives from one sender are served in order.
bool mpi_endpoint::start_if_arrived(std::uint32_t index, const shm::wait_site& site) {
  message& m = messages_[index];
  for (const message& other : messages_)
    if (other.busy && other.unmatched && other.comm == m.comm && other.from == m.from && other.tag == m.tag &&
        static_cast<std::int32_t>(other.generation - m.generation) < 0)
      return false;
  int flag = 0;
  MPI_Message found;
  MPI_Status status;
  check(MPI_Improbe(m.from, m.tag, m.comm, &flag, &found, &status), site.operation, rank_);
  if (!flag) return false;
  m.unmatched = false;
  MPI_Count received = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &received), site.operation, rank_);
  if (static_cast<std::size_t>(received) != m.bytes) {
    // The message is received all the same, because its sender waits for that.
    const message copy = m;
    end_message(index);
    receive_and_discard(found, static_cast<std::size_t>(received));
    throw_wrong_length(copy.peer, copy.bytes, static_cast<std::size_t>(received), site);
  }
  typed_count s = types_->of(element{}, m.bytes);
  const int code = MPI_Imrecv(m.into, s.count, s.type, &found, &m.request);
  s.free();
  check(code, site.operation, rank_);
  return true;
}

void mpi_endpoint::compare_length(std::uint32_t index, MPI_Status& status, const shm::wait_site& site) {
  const message& m = messages_[index];
  int count = 0;
  if (m.bytes <= 0x7fffffff) {
    if (MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && static_cast<std::size_t>(count) == m.bytes)
        [[likely]]
      return;
  }
  MPI_Count received = count;
  MPI_Get_elements_x(&status, MPI_BYTE, &received);
  if (static_cast<std::size_t>(received) == m.bytes) return;
  const message copy = m;
  end_message(index);
  throw_wrong_length(copy.peer, copy.bytes, static_cast<std::size_t>(received), site);
}

void mpi_endpoint::throw_transfer_error(std::uint32_t index, int code, const shm::wait_site& site) {
  const message copy = messages_[index];
  end_message(index);
  // MPI does not report the length.
  if (is_truncation(code)) throw_wrong_length(copy.peer, copy.bytes, {}, site);
  try {
    throw_mpi_error(code, site.operation, rank_);
  } catch (const engine_error& e) {
    abandon_and_throw(e);
  }
}

void mpi_endpoint::throw_not_received(node_messages::progress why, const shm::wait_site& site) {
  if (why == node_messages::progress::abandoned) throw_abandoned(site);
  const node_messages::lengths of = node_messages_->wrong_lengths();
  throw_wrong_length(of.from, of.expected, of.actual, site);
}

void mpi_endpoint::throw_wrong_length(int peer, std::size_t expected, std::optional<std::size_t> actual,
                                      const shm::wait_site& site) {
  throw_length_mismatch(site.operation, rank_, {peer, rank_, actual, expected},
                        [&](const auto& e) { abandon_and_throw(e); });
}

void mpi_endpoint::throw_abandoned(const shm::wait_site& site) {
  if (failure_monitor_->failed()) throw_failure(site);
  throw engine_error(site.operation, rank_, "", "was abandoned after an earlier error on this rank", "");
}

}  // namespace tutti::mpi
