/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF: any process can abort the job.
 */
#ifndef LPF_ABORT_H
#define LPF_ABORT_H

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** Whether lpf_abort() ends all processes; 1. */
extern const int LPF_HAS_ABORT;

/** Ends all processes of the job at once, with an exit code other than 0. Unwritten stdio buffers
 * are lost. It returns only if it cannot end them, with LPF_ERR_FATAL. */
lpf_err_t lpf_abort(lpf_t ctx);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#endif
