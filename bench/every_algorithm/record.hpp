// SPDX-License-Identifier: Apache-2.0
//
// The results of bench/every_algorithm: records, and their output as tables for each collective and
// size, or as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// Returns the part of "ring" and "allreduce/ring:segment=4096" after the slash.
std::string_view without_collective(std::string_view algorithm);

struct record {
  std::string engine;  // "threads", "fibers", "openmpi", "mpich"
  int ranks = 0;
  std::string collective;
  std::size_t bytes = 0;
  std::string algorithm;  // "allreduce/ring", "allreduce/native", "allreduce/chain:segment=4096"
  double us = 0;
  double noise = 0;  // interquartile range of all samples, divided by their median
  std::string error;  // if set, there is no figure
};

void to_json(nlohmann::ordered_json& to, const record& r);
void from_json(const nlohmann::ordered_json& from, record& r);

/// One table for each collective and size. Rows are algorithms, columns engines.
void print_tables(const std::vector<record>& all);

/// One table with the fastest algorithm of each collective and size on each engine, and its time
/// divided by that of the native collective. "+2" means that two more are at most 3 % slower. If
/// native is among them, it is named.
void print_best(const std::vector<record>& all);

}  // namespace bench
