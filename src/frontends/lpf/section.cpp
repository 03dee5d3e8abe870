// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/section.hpp"

#include <deque>
#include <mutex>
#include <string>

#include "base/environment.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/root.hpp"
#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"

namespace tutti::lpf {
namespace {

std::atomic<int> running = 0;

// The contexts that no section uses, longest ended first. They are never freed. One is reused only
// if there are enough others, so that ended handles are recognized for a long time.
struct contexts {
  static constexpr std::size_t kept = 64;
  std::mutex lock;
  std::deque<context*> ended;

  context* take() {
    const std::lock_guard guard(lock);
    if (ended.size() < kept) return new context;
    context* const c = ended.front();
    ended.pop_front();
    return c;
  }
  void give(context* c) noexcept {
    const std::lock_guard guard(lock);
    try {
      ended.push_back(c);
    } catch (const std::bad_alloc&) {  // then it is not reused
    }
  }
};

contexts& contexts_of_process() {
  // Never destroyed, because exit() may be called within a section.
  static auto* const all = new contexts;
  return *all;
}

// This process's stay in a section. A section ends for all processes at the same time, also by an
// exception. A process that leaves reports it to those that sync.
class stay {
 public:
  stay(communicator& world, const share& of, context** innermost)
      : here_(contexts_of_process().take()), innermost_(innermost) {
    try {
      here_->process = bsp::abi::open(detail::impl_of(world), false);
    } catch (...) {
      contexts_of_process().give(here_);
      throw;
    }
    here_->world = &world;
    here_->of = of;
    here_->said = here_->sited = false;
    here_->served = (here_->served + 1) % alignof(context);
    handle_ = reinterpret_cast<char*>(here_) + here_->served;
    here_->handle.store(handle_, std::memory_order_relaxed);
    ++running;
    if (innermost_ == nullptr) return;
    outer_ = *innermost_;
    *innermost_ = here_;
  }
  stay(const stay&) = delete;
  ~stay() {
    if (!left_) {
      refuse("section", "spmd", "threw an exception");
      bsp::abi::leave(*here_->process);
    }
    --running;
    if (innermost_ != nullptr) *innermost_ = outer_;
    here_->handle.store(nullptr, std::memory_order_relaxed);
    bsp::abi::close(here_->process);
    contexts_of_process().give(here_);
  }
  bool leave() noexcept {
    left_ = true;
    return bsp::abi::leave(*here_->process);
  }
  lpf_t handle() const noexcept { return handle_; }

  // Makes this process fail, with an error that is reported elsewhere. So the others do not wait
  // for it.
  void refuse(const char* operation, const char* argument, const char* problem) noexcept {
    here_->said = true;
    try {
      bsp::abi::refuse(*here_->process, operation, argument, problem, "see the reported error");
    } catch (...) {
    }
  }

 private:
  context* here_;
  context** innermost_;
  context* outer_ = nullptr;  // the innermost one before
  lpf_t handle_ = nullptr;
  bool left_ = false;
};

}  // namespace

lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args, const share& of,
                      const char* operation, context** innermost) {
  stay in(world, of, innermost);
  detail::set_call_site(detail::impl_of(world), {});  // calls from C have no location
  if (lacks_arguments(args, operation, world.rank())) [[unlikely]]
    in.refuse(operation, "args", "cannot be used");
  else
    spmd(in.handle(), static_cast<lpf_pid_t>(world.rank()), static_cast<lpf_pid_t>(world.size()), args);
  return in.leave() ? LPF_SUCCESS : LPF_ERR_FATAL;
}

bool lacks_arguments(const lpf_args_t& args, const char* operation, int process) noexcept {
  const auto lacks = [&](const char* argument, const char* size_name, const void* what, std::size_t size,
                         const char* remedy) {
    if (size == 0 || what != nullptr) return false;
    report_error(operation, process, argument,
                 std::string("is null, but ") + size_name + " is " + std::to_string(size), remedy);
    return true;
  };
  if (lacks("args.f_symbols", "args.f_size", reinterpret_cast<const void*>(args.f_symbols), args.f_size,
            "pass the functions, or 0"))
    return true;
  const bool input = args.input == nullptr && args.input_size > 0;
  const bool output = args.output == nullptr && args.output_size > 0;
  if (!input && !output) return false;
  try {
    if (!switch_setting("TUTTI_CHECK", false)) return false;
  } catch (...) {
    return false;  // the code that reads the settings of the job finds the error again
  }
  return lacks("args.input", "args.input_size", args.input, args.input_size, "pass the input, or 0") ||
         lacks("args.output", "args.output_size", args.output, args.output_size,
               "pass a place for the output, or 0");
}

int sections_running() noexcept { return running; }

context* other_context(lpf_t ctx, const char* operation) noexcept {
  if (ctx == LPF_ROOT) return root_context(operation);
  report_error(operation, -1, "ctx",
               ctx == LPF_NONE ? "is LPF_NONE" : "is not a context, or its section has ended",
               "pass the context that the function of the section received, while it runs");
  return nullptr;
}

lpf_err_t code_of_exception(context& c, const char* operation) noexcept {
  if (!c.said && !bsp::abi::another_reports(*c.process)) report_exception(operation);
  c.said = true;
  return LPF_ERR_FATAL;
}

}  // namespace tutti::lpf
