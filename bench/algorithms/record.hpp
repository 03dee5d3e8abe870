// SPDX-License-Identifier: Apache-2.0
//
// What has been measured, and how it is shown: records go in, one table a collective and size comes out, or
// JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// "ring" and "allreduce/ring:segment=4096" as the rest behind the slash.
std::string_view without_collective(std::string_view algorithm);

struct record {
  std::string engine;  // "threads", "fibers", "openmpi", "mpich"
  int ranks = 0;
  std::string collective;
  std::size_t bytes = 0;
  std::string algorithm;  // "allreduce/ring", "allreduce/native", "allreduce/chain:segment=4096"
  double us = 0;
  double noise = 0;   // distance of the quartiles of all samples, as a part of their median
  std::string error;  // then there is no figure
};

void to_json(nlohmann::ordered_json& to, const record& r);
void from_json(const nlohmann::ordered_json& from, record& r);

/// One table for each collective and size. Rows are algorithms, columns engines.
void print_tables(const std::vector<record>& all);

/// One table: for each collective, the quickest algorithm of each size on each engine, and its time over that
/// of the native collective. "+2": two more take no more than 3 % longer. Where native is one of them it is
/// named.
void print_best(const std::vector<record>& all);

}  // namespace bench
