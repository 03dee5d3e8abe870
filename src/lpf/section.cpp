// SPDX-License-Identifier: Apache-2.0
#include "lpf/section.hpp"

#include "lpf/complain.hpp"
#include "tutti/communicator.hpp"

namespace tutti::lpf {
namespace {

// A section ends for all at the same time, also by an exception: whoever leaves it says so to those that
// sync.
class stay {
 public:
  explicit stay(communicator& world) : here{&world, bsp::port::open(world.native(), false)} {}
  ~stay() {
    if (!left_) bsp::port::leave(*here.process);
    bsp::port::close(here.process);
  }
  bool leave() noexcept {
    left_ = true;
    return bsp::port::leave(*here.process);
  }
  context here;

 private:
  bool left_ = false;
};

}  // namespace

lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args) {
  stay in(world);
  spmd(&in.here, static_cast<lpf_pid_t>(world.rank()), static_cast<lpf_pid_t>(world.size()), args);
  return in.leave() ? LPF_SUCCESS : LPF_ERR_FATAL;
}

context* refuse_context(lpf_t ctx, const char* operation) noexcept {
  complain(operation, -1, "ctx", ctx == nullptr ? "is LPF_NONE" : "is LPF_ROOT, outside of all sections",
           "pass the context that the function of the section is given");
  return nullptr;
}

communicator& world_of(lpf_t ctx) noexcept { return *static_cast<context*>(ctx)->world; }

lpf_err_t code_of_exception(context& c, const char* operation) noexcept {
  if (!c.said) complain_of_exception(operation);
  c.said = true;
  return LPF_ERR_FATAL;
}

}  // namespace tutti::lpf
