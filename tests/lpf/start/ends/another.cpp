// SPDX-License-Identifier: Apache-2.0
#include <string>

namespace {
const std::string text = "of another file, which is long enough to lie on the heap";
}

const std::string& text_of_another_file();
const std::string& text_of_another_file() { return text; }
