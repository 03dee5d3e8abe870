/* SPDX-License-Identifier: Apache-2.0
 *
 * All LPF headers for bulk-synchronous programs: the core, the collectives, messages with tags
 * (BSMP) and BSPlib. It declares nothing itself.
 */
#ifndef LPF_BSP_H
#define LPF_BSP_H

#include "lpf/bsmp.h"
#include "lpf/bsplib.h"
#include "lpf/collectives.h"
#include "lpf/core.h"

#endif
