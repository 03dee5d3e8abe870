// SPDX-License-Identifier: Apache-2.0
//
// The constants of LPF's headers. They are variables, so that no macro leaks into programs.
#include "frontends/lpf/constants.hpp"

#include <limits>

#include "lpf/abort.h"
#include "lpf/collectives.h"
#include "lpf/core.h"

namespace tutti::lpf {

constinit context context_of_root;

}  // namespace tutti::lpf

extern "C" {

const lpf_err_t LPF_SUCCESS = 0;
const lpf_err_t LPF_ERR_OUT_OF_MEMORY = 1;
const lpf_err_t LPF_ERR_FATAL = 2;
const lpf_sync_attr_t LPF_SYNC_DEFAULT = 0;
const lpf_msg_attr_t LPF_MSG_DEFAULT = 0;
const lpf_pid_t LPF_MAX_P = std::numeric_limits<lpf_pid_t>::max();
const lpf_memslot_t LPF_INVALID_MEMSLOT = std::numeric_limits<lpf_memslot_t>::max();
const lpf_t LPF_ROOT = &tutti::lpf::context_of_root;
const lpf_t LPF_NONE = nullptr;
const lpf_init_t LPF_INIT_NONE = nullptr;
const lpf_args_t LPF_NO_ARGS = {nullptr, 0, nullptr, 0, nullptr, 0};
const lpf_machine_t LPF_INVALID_MACHINE = {0, 0, nullptr, nullptr};
const lpf_coll_t LPF_INVALID_COLL = {nullptr, 0, 0, 0};
const int LPF_HAS_ABORT = 1;

}  // extern "C"
