// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/wait_interface.hpp"

#include "base/report_text.hpp"

namespace tutti::shm {

using namespace tutti::detail;

std::string describe(const wait_site& site, const detail::current_call& now) {
  std::string text = "in " + std::string(now.name_or(site.operation));
  if (const std::string location = location_text(now.location()); !location.empty())
    text += " at " + location;
  if (site.algorithm[0] != '\0') text += " (" + std::string(site.algorithm) + ")";
  if (site.run != wait_site::unnumbered) text += ", call " + std::to_string(site.run);
  if (site.round >= 0) text += ", round " + std::to_string(site.round);
  text += ", waits for " + std::string(site.what);
  if (site.peer >= 0) text += " rank " + std::to_string(site.peer);
  if (site.tag >= 0) text += " with tag " + std::to_string(site.tag);
  return text;
}

}  // namespace tutti::shm
