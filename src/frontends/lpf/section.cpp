// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/section.hpp"

#include <deque>
#include <mutex>
#include <string>

#include "base/environment_variables.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/root.hpp"
#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

std::atomic<int> running = 0;

// The contexts that no section uses. The first one ended first. They are never freed. A context is
// reused only if enough others exist, so that ended handles are recognized for a long time.
struct context_pool {
  static constexpr std::size_t min_ended = 64;
  std::mutex lock;
  std::deque<context*> ended;

  context* acquire() {
    const std::lock_guard guard(lock);
    if (ended.size() < min_ended) return new context;
    context* const c = ended.front();
    ended.pop_front();
    return c;
  }
  void release(context* c) noexcept {
    const std::lock_guard guard(lock);
    try {
      ended.push_back(c);
    } catch (const std::bad_alloc&) {  // then it is not reused
    }
  }
};

context_pool& pool_of_process() {
  // Never destroyed, because exit() may be called within a section.
  static auto* const pool = new context_pool;
  return *pool;
}

// The participation of this process in a section. A section ends for all processes at the same
// time, also by an exception. A process that leaves reports it to those that sync.
class section_scope {
 public:
  section_scope(communicator& world, const process_counts& counts, context** innermost)
      : context_(pool_of_process().acquire()), innermost_(innermost) {
    try {
      context_->process = bsp::abi::open(detail::impl_of(world), false);
    } catch (...) {
      pool_of_process().release(context_);
      throw;
    }
    context_->world = &world;
    context_->counts = counts;
    context_->failure_reported = context_->has_call_site = false;
    context_->generation = (context_->generation + 1) % alignof(context);
    handle_ = reinterpret_cast<char*>(context_) + context_->generation;
    context_->handle.store(handle_, std::memory_order_relaxed);
    ++running;
    if (innermost_ == nullptr) return;
    outer_ = *innermost_;
    *innermost_ = context_;
  }
  section_scope(const section_scope&) = delete;
  ~section_scope() {
    if (!left_) {
      fail("section", "spmd", "threw an exception");
      bsp::abi::leave(*context_->process);
    }
    --running;
    if (innermost_ != nullptr) *innermost_ = outer_;
    context_->handle.store(nullptr, std::memory_order_relaxed);
    bsp::abi::close(context_->process);
    pool_of_process().release(context_);
  }
  bool leave() noexcept {
    left_ = true;
    return bsp::abi::leave(*context_->process);
  }
  lpf_t handle() const noexcept { return handle_; }

  // Makes this process fail, so that the others do not wait for it. Another function reports the
  // error.
  void fail(const char* operation, const char* argument, const char* problem) noexcept {
    context_->failure_reported = true;
    try {
      bsp::abi::reject(*context_->process, operation, argument, problem, "see the reported error");
    } catch (...) {
    }
  }

 private:
  context* context_;
  context** innermost_;
  context* outer_ = nullptr;  // the previous value of *innermost_
  lpf_t handle_ = nullptr;
  bool left_ = false;
};

}  // namespace

lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args,
                      const process_counts& counts, const char* operation, context** innermost) {
  section_scope scope(world, counts, innermost);
  detail::set_call_site(detail::impl_of(world), {});  // calls from C have no location
  if (has_null_arguments(args, operation, world.rank())) [[unlikely]]
    scope.fail(operation, "args", "cannot be used");
  else
    spmd(scope.handle(), static_cast<lpf_pid_t>(world.rank()), static_cast<lpf_pid_t>(world.size()), args);
  return scope.leave() ? LPF_SUCCESS : LPF_ERR_FATAL;
}

bool has_null_arguments(const lpf_args_t& args, const char* operation, int process) noexcept {
  const auto is_null = [&](const char* argument, const char* size_name, const void* pointer, std::size_t size,
                           const char* remedy) {
    if (size == 0 || pointer != nullptr) return false;
    report_error(operation, process, argument,
                 std::string("is null, but ") + size_name + " is " + std::to_string(size), remedy);
    return true;
  };
  if (is_null("args.f_symbols", "args.f_size", reinterpret_cast<const void*>(args.f_symbols), args.f_size,
              "pass the functions, or 0"))
    return true;
  const bool input = args.input == nullptr && args.input_size > 0;
  const bool output = args.output == nullptr && args.output_size > 0;
  if (!input && !output) return false;
  try {
    if (!switch_setting("TUTTI_CHECK", false)) return false;
  } catch (...) {
    return false;  // the code that reads the settings of the job reports the error
  }
  return is_null("args.input", "args.input_size", args.input, args.input_size, "pass the input, or 0") ||
         is_null("args.output", "args.output_size", args.output, args.output_size,
                 "pass a place for the output, or 0");
}

int running_section_count() noexcept { return running; }

context* root_context_or_null(lpf_t ctx, const char* operation) noexcept {
  if (ctx == LPF_ROOT) return root_context(operation);
  report_error(operation, -1, "ctx",
               ctx == LPF_NONE ? "is LPF_NONE" : "is not a context, or its section has ended",
               "pass the context that the function of the section received, while it runs");
  return nullptr;
}

lpf_err_t code_of_exception(context& c, const char* operation) noexcept {
  // The process has not failed if another thread called.
  if (!bsp::abi::may_call_here(*c.process)) return report_exception(operation);
  if (!c.failure_reported && !bsp::abi::reported_by_another(*c.process)) report_exception(operation);
  c.failure_reported = true;
  return LPF_ERR_FATAL;
}

}  // namespace tutti::lpf
