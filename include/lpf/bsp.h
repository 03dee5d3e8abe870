/* SPDX-License-Identifier: Apache-2.0
 *
 * All that bulk-synchronous programs use of LPF, in one header: the core, the collectives, messages with tags
 * (BSMP) and BSPlib. It declares nothing of its own.
 */
#ifndef LPF_BSP_H
#define LPF_BSP_H

#include "lpf/bsmp.h"
#include "lpf/bsplib.h"
#include "lpf/collectives.h"
#include "lpf/core.h"

#endif
