/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that can be preloaded into any program and does nothing. */
int tutti_preload_stub(void);
int tutti_preload_stub(void) { return 0; }
