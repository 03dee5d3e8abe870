// SPDX-License-Identifier: Apache-2.0
//
// An MPI collective, translated into a call of tutti. Data that is only moved becomes bytes,
// because ranks may describe the same data by different datatypes. Operands become elements. If a
// datatype has gaps, the call uses a buffer beside the program's, filled before the call and
// unpacked after it.
#pragma once

#include <cstddef>
#include <vector>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/datatypes.hpp"
#include "frontends/preload/operators.hpp"
#include "tutti/call.hpp"

namespace tutti::preload {

class translated_call {
 public:
  translated_call(datatypes& types, operators& ops) : types_(types), ops_(ops) {}
  translated_call(const translated_call&) = delete;
  translated_call& operator=(const translated_call&) = delete;

  /// Returns false if MPI must handle these arguments, because they are wrong or tutti does not
  /// support them. `rank`, `size`: of the communicator. Packs what is sent.
  bool translate(const arguments& a, int rank, int size);
  const call& result() const noexcept { return call_; }
  /// Whether the call uses the program's own buffers, and combines by a loop of tutti.
  bool direct() const noexcept {
    return in_.parts.empty() && out_.parts.empty() && combined_type_ == nullptr && !operand_copied_;
  }
  /// The bytes that the object keeps for the next call.
  std::size_t capacity() const noexcept {
    return in_.staging.capacity() + out_.staging.capacity() + packed_.capacity();
  }
  /// Unpacks what was received.
  void finish();
  /// Between retain() and release() the program may free datatypes and operator.
  void retain();
  void release();

 private:
  // Items of the program that are packed contiguously at `place` in the bytes beside them.
  struct part {
    void* at;
    std::size_t items;
    const datatype* type;
    std::size_t offset;
    bool elements;  // stored with their gaps, as an operator needs them
  };
  struct staged_side {
    std::vector<std::byte> staging;
    std::vector<part> parts;
    std::vector<std::size_t> counts, displs;
    void clear() {
      parts.clear();
      counts.clear();
      displs.clear();
    }
  };
  struct block_arrays {
    const void* at;
    const int *counts, *displs;
    MPI_Datatype type;
    const MPI_Datatype* types;
  };

  bool translate_moving(const arguments& a);
  bool translate_rooted(const arguments& a);
  bool translate_vector(const arguments& a);
  bool translate_combining(const arguments& a);
  bool choose_loop(const operator_info& op, const datatype& t);
  bool set_input(const void* at, std::size_t items, const datatype& type);
  bool set_output(void* at, std::size_t items, const datatype& type, bool fill);
  void stage(staged_side& s, void* at, std::size_t items, const datatype& type, bool elements);
  bool set_blocks(staged_side& s, const block_arrays& b, bool received, bool fill, const void*& at);
  void stage_blocks(staged_side& s, const block_arrays& b);
  void fill(staged_side& s);
  bool separate_buffers(const arguments& a);
  bool fit_own_block(std::size_t bytes);
  const datatype* usable_type(int count, MPI_Datatype type);

  datatypes& types_;
  operators& ops_;
  int rank_ = 0, size_ = 1;
  call call_;
  staged_side in_, out_;
  local_reduction reduction_;
  const datatype* combined_type_ = nullptr;  // if reduction_ combines
  const operator_info* combining_op_ = nullptr;
  std::vector<std::byte> packed_;
  bool operand_copied_ = false;  // the operand is a copy
};

}  // namespace tutti::preload
