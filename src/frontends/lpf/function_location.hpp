// SPDX-License-Identifier: Apache-2.0
//
// Where a function stands in words that mean the same in another process: the file it was loaded from, and
// how far into it. So static functions can be told, wherever the files were loaded to.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::lpf {

struct function_location {
  std::string file;            ///< empty: the program itself
  std::uint64_t offset = 0;    ///< from where it was loaded
  std::uint64_t call_key = 0;  ///< of its layout, which another file of that name would not have
  bool null = false;           ///< no function
};

/// Of a function of this process. Throws std::runtime_error for one that no file holds.
function_location place_of(void (*function)());

/// The function of this process. Throws std::runtime_error where the file is not loaded here, or is another
/// one.
void (*function_at(const function_location& place))();

}  // namespace tutti::lpf
