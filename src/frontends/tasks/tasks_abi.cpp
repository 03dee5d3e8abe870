// SPDX-License-Identifier: Apache-2.0
//
// Implements tutti/detail/tasks_abi.hpp, by which the task API calls the library.
#include <cstdio>

#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks::abi {

task_graph* open(detail::communicator_impl& all, const options& how, const char* header) {
  const detail::enclosing_call scope(all, "tasks::runtime", detail::place_of(all));
  detail::validate_entry(all, "tasks");
  if (detail::has_two_groups(all))
    detail::reject(all, "tasks", "ranks", "has two groups", "pass a communicator with one group");
  if (!detail::knows_all_members(all))
    detail::reject(all, "tasks", "ranks", "knows only some of its ranks", "pass its split(0)");
  if (how.workers < 0 || how.workers > 1024)
    detail::reject(all, "tasks", "workers", "is " + std::to_string(how.workers),
                   "pass 1 to 1024, or 0 for TUTTI_TASK_WORKERS");
  return new task_graph(all, how, header);
}
// After run() has returned, the engine and the ranks that this one waits for are gone.
void close(task_graph* f, bool unwinding) noexcept {
  if (f->outlived_run()) {
    std::fprintf(
        stderr,
        "tutti: tasks on rank %d: the runtime has outlived its run(); its unfinished work is dropped\n",
        f->rank());
    return;
  }
  f->close(unwinding);
  delete f;
}

int rank(const task_graph& f) noexcept { return f.rank(); }
int size(const task_graph& f) noexcept { return f.size(); }
int workers(const task_graph& f) noexcept { return f.workers(); }

// The calls that pass no source location clear that of an earlier call.
data_handle* add(task_graph& f, const extent& e) {
  f.set_call_site({});
  return f.add(e);
}
void remove(task_graph& f, data_handle* d) {
  f.set_call_site({});
  if (d != nullptr) f.remove(*d);
}
extent extent_of(const data_handle& d) noexcept {
  extent e = d.spec;
  e.owner = d.owner;
  return e;
}
long tag_of(const data_handle& d) noexcept { return d.id < 0 ? -1 - d.id : d.id; }
void set_tag(task_graph& f, data_handle& d, long tag) {
  f.set_call_site({});
  f.set_tag(d, tag);
}
void set_owner(task_graph& f, data_handle& d, int owner) {
  f.set_call_site({});
  f.set_owner(d, owner);
}

void* begin(task_graph& f, const use* uses, std::size_t n, const task_options& w,
            const kernel_operations& k) {
  f.set_call_site({});  // an insertion is written over several lines
  return f.begin(uses, n, w, k);
}
void submit(task_graph& f) noexcept { f.submit(); }

void note(const task_graph& f, const std::source_location& at) noexcept { f.set_call_site(at); }

void fetch(task_graph& f, data_handle* d, int rank) { f.fetch(d, rank); }
void scatter(task_graph& f, data_handle* const* data, std::size_t n, int root) { f.scatter(data, n, root); }
void gather(task_graph& f, data_handle* const* data, std::size_t n, int root) { f.gather(data, n, root); }
void flush(task_graph& f, data_handle* d) {
  f.set_call_site({});
  f.flush(d);
}
void set_cache(task_graph& f, bool on) {
  f.set_call_site({});
  f.set_cache(on);
}

void* acquire(task_graph& f, data_handle* d, use_mode how, kernel_buffer& at) {
  return f.acquire(*d, how, at);
}
void release(task_graph& f, void* acquired) noexcept { f.release_view(acquired); }

void* start(task_graph& f, const explicit_transfer& t, bool sends) { return f.start(t, sends); }
bool test(task_graph* f, void* request, detail::envelope& found, const std::source_location& at) {
  if (task_graph::outlived_by(request)) {
    found = task_graph::result_after_end(request, "test");
    return true;
  }
  f->set_call_site(at);
  return f->test(request, found);
}
void wait(task_graph* f, void* request, detail::envelope& found, bool is_entry,
          const std::source_location& at) {
  if (task_graph::outlived_by(request)) {
    found = task_graph::result_after_end(request, "wait");
    return;
  }
  f->set_call_site(at);
  f->wait(request, found, is_entry);
}
void drop(task_graph* f, void* request) noexcept {
  if (task_graph::outlived_by(request)) return task_graph::drop_after_end(request);
  f->drop(request);
}
void detach(task_graph& f, const explicit_transfer* all, std::size_t n, bool sends, const follow_up& action) {
  f.detach(all, n, sends, action);
}

void wait_all(task_graph& f) { f.wait_all(); }
void unlock(task_graph& f, std::uint64_t tag) { f.unlock(tag); }
void barrier(task_graph& f) { f.barrier(); }
void progress(task_graph& f) { f.progress_at_entry(); }
statistics counts(const task_graph& f) { return f.counts(); }

void reject(const task_graph& f, const char* operation, const char* parameter, std::string_view problem,
            const char* remedy) {
  f.validator().reject(operation, parameter, problem, remedy);
}

}  // namespace tutti::tasks::abi
