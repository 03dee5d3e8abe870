// SPDX-License-Identifier: Apache-2.0
//
// TAP devices: network devices whose frames a process reads and writes. The kernel hands over TCP
// segments of up to 64 KiB as one frame, and leaves out their checksums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cluster_relay {

using mac_address = std::array<std::uint8_t, 6>;

// Bytes before each frame: its virtio_net_hdr.
constexpr std::size_t header_bytes = 10;
// Enough for a frame of any device, with the bytes before it.
constexpr std::size_t max_frame_bytes = 1 << 17;

// Creates a TAP device in the network namespace of this file, such as /proc/7/ns/net. Returns its
// descriptor, which does not block. Throws std::system_error.
int create_tap(const std::string& network_namespace, const std::string& name, const mac_address& address);

// The receiver of a frame, as header and Ethernet header say. `content` has both.
mac_address receiver_of(std::span<const std::byte> content);

// The bytes that a frame takes on an Ethernet: each of its segments has a header, a preamble, a
// checksum and a gap.
std::size_t wire_bytes_of(std::span<const std::byte> content);

}  // namespace cluster_relay
