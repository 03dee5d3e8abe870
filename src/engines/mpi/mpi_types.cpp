// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/mpi_types.hpp"

#include <string>

#include "engines/mpi/error_text.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

void throw_mpi_error(int code, const char* operation, int rank) {
  throw engine_error(operation, rank, "", "MPI reports: " + error_text(code), "");
}

bool is_truncation(int code) noexcept {
  int kind = MPI_SUCCESS;
  return MPI_Error_class(code, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE;
}

// Combines blocks of 1 GiB and the rest.
MPI_Datatype make_large_type(std::size_t bytes, const char* operation, int rank) {
  constexpr std::size_t block = std::size_t{1} << 30;
  const auto ok = [&](int code) { check(code, operation, rank); };
  const std::size_t blocks = bytes / block, rest = bytes % block;
  if (blocks > 0x7fffffff) throw engine_error(operation, rank, "count", "is beyond what MPI can address", "");
  MPI_Datatype one, many, all;
  ok(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one));
  ok(MPI_Type_contiguous(static_cast<int>(blocks), one, &many));
  const int lengths[2] = {1, static_cast<int>(rest)};
  const MPI_Aint offsets[2] = {0, static_cast<MPI_Aint>(blocks * block)};
  const MPI_Datatype parts[2] = {many, MPI_BYTE};
  ok(MPI_Type_create_struct(rest != 0 ? 2 : 1, lengths, offsets, parts, &all));
  ok(MPI_Type_commit(&all));
  MPI_Type_free(&one);
  MPI_Type_free(&many);
  return all;
}

types::types(int rank)
    : kinds_{MPI_BYTE,     MPI_INT8_T,   MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,     MPI_UINT8_T, MPI_UINT16_T,
             MPI_UINT32_T, MPI_UINT64_T, MPI_FLOAT,   MPI_DOUBLE,  MPI_LONG_DOUBLE, MPI_C_BOOL},
      ops_{MPI_OP_NULL, MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND,
           MPI_BOR,     MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR},
      rank_(rank) {}

types::~types() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  for (auto& [bytes, type] : sizes_) MPI_Type_free(&type);
}

MPI_Datatype types::of_size(std::size_t bytes) {
  if (bytes == 1) return MPI_BYTE;
  for (const auto& [size, type] : sizes_)
    if (size == bytes) return type;
  if (bytes > 0x7fffffff) {
    sizes_.emplace_back(bytes, make_large_type(bytes, "a large element", rank_));
    return sizes_.back().second;
  }
  MPI_Datatype made;
  check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &made), "an element's type", rank_);
  check(MPI_Type_commit(&made), "an element's type", rank_);
  sizes_.emplace_back(bytes, made);
  return made;
}

}  // namespace tutti::mpi
