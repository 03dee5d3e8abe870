// SPDX-License-Identifier: Apache-2.0
//
// The memory that the control groups of a process leave to it: its own group and all groups above
// it have limits. Linux has two versions of them, which may be mounted beside one another.
#pragma once

#include <string>
#include <string_view>

namespace tutti::simulation {

/// `groups` has the format of /proc/self/cgroup; the groups are mounted at `mount`. Pages of files
/// that the kernel can drop do not count as used. Infinite if there is no limit.
double memory_of_control_groups(std::string_view groups, const std::string& mount = "/sys/fs/cgroup");

}  // namespace tutti::simulation
