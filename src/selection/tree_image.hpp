// SPDX-License-Identifier: Apache-2.0
//
// A document as a sequence of bytes that is read without a parser and without a proof. The build
// makes the images of the built-in trees (tools/tree_images), so a program that starts does not
// read their text. An image fits only the library of the build that wrote it, so no file has one.
#pragma once

#include <string>
#include <string_view>

#include "selection/tree.hpp"

namespace tutti::detail {

/// Includes the lines and files of all choices.
std::string write_image(const document&);
/// Throws std::logic_error if the bytes are no image of this library.
document read_image(std::string_view image);

/// The image of builtin_document(name). Empty if the build has made none; then the text is read.
std::string_view builtin_image(std::string_view name) noexcept;

/// A hash: equal for documents with the same choices, conditions and machine, whatever lines they
/// come from; with high probability different otherwise.
std::uint64_t hash_of(const document&);

}  // namespace tutti::detail
