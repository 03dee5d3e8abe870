// SPDX-License-Identifier: Apache-2.0
//
// The visibility of symbols. The library is compiled with hidden visibility. What stands between
// TUTTI_API_BEGIN and TUTTI_API_END is exported: it is public, or inline code of a header calls it.
// Exceptions and templates that programs instantiate are the same in all shared objects of a
// program for that reason. A class that the library defines in src/ is declared before such a part,
// because a declaration within it would export its members. TUTTI_API exports one declaration. In
// headers of src/ it exports what another library of this project calls. C programs include this
// header through lpf/*.h.
#pragma once

#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_API_BEGIN _Pragma("GCC visibility push(default)")
#define TUTTI_API_END _Pragma("GCC visibility pop")
