// SPDX-License-Identifier: Apache-2.0
#include "cluster_relay/tap_device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cluster_relay {
namespace {

// As in <linux/virtio_net.h>, which is no C++.
struct virtio_net_hdr {
  std::uint8_t flags, gso_type;  // 0: one segment
  std::uint16_t hdr_len, gso_size, csum_start, csum_offset;
};
static_assert(sizeof(virtio_net_hdr) == header_bytes);
constexpr std::size_t ethernet_header = 14;
constexpr std::size_t tcp_data_offset = 12;    // of the byte with the length of a TCP header
constexpr std::size_t around_segment = 24;     // preamble 8, checksum 4, gap 12
constexpr std::size_t min_segment_bytes = 60;  // an Ethernet pads shorter ones

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// This thread is in another network namespace while the object lives.
class within_namespace {
 public:
  explicit within_namespace(const std::string& file)
      : home_(checked(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "/proc/self/ns/net")) {
    const int other = checked(open(file.c_str(), O_RDONLY | O_CLOEXEC), file);
    const int status = setns(other, CLONE_NEWNET);
    close(other);
    if (status < 0) close(home_);
    checked(status, file);
  }
  ~within_namespace() {
    setns(home_, CLONE_NEWNET);
    close(home_);
  }
  within_namespace(const within_namespace&) = delete;
  within_namespace& operator=(const within_namespace&) = delete;

 private:
  int home_;
};

}  // namespace

int create_tap(const std::string& network_namespace, const std::string& name, const mac_address& address) {
  const within_namespace scope(network_namespace);
  const int device = checked(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun");
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  checked(ioctl(device, TUNSETIFF, &request), "TUNSETIFF " + name);
  checked(ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN),
          "TUNSETOFFLOAD " + name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::copy(address.begin(), address.end(), request.ifr_hwaddr.sa_data);
  checked(ioctl(device, SIOCSIFHWADDR, &request), "SIOCSIFHWADDR " + name);
  return device;
}

mac_address receiver_of(std::span<const std::byte> content) {
  mac_address address{};
  if (content.size() >= header_bytes + address.size())
    std::memcpy(address.data(), content.data() + header_bytes, address.size());
  return address;
}

std::size_t wire_bytes_of(std::span<const std::byte> content) {
  const std::size_t bytes = content.size() - header_bytes;
  virtio_net_hdr header{};
  std::memcpy(&header, content.data(), header_bytes);
  std::size_t segments = 1, repeated = 0;
  const std::size_t data_offset = header_bytes + header.csum_start + tcp_data_offset;
  if (header.gso_type != 0 && header.gso_size > 0 && data_offset < content.size()) {
    repeated = header.csum_start + (std::to_integer<std::size_t>(content[data_offset]) >> 4) * 4;
    if (bytes > repeated) segments = (bytes - repeated + header.gso_size - 1) / header.gso_size;
  }
  return std::max(bytes, min_segment_bytes) + (segments - 1) * repeated + segments * around_segment;
}

}  // namespace cluster_relay
