/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that can be loaded in front of any program, and does nothing to it. */
int tutti_preload_stub(void);
int tutti_preload_stub(void) { return 0; }
