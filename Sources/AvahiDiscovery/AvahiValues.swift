import CAvahi
import Glibc
import PeerDiscovery

func networkAddress(_ address: AvahiAddress) -> NetworkAddress? {
  switch address.proto {
  case whiteboard_avahi_ipv4: withUnsafeBytes(of: address.data.ipv4.address) { NetworkAddress(bytes: $0) }
  case whiteboard_avahi_ipv6: withUnsafeBytes(of: address.data.ipv6.address) { NetworkAddress(bytes: $0) }
  default: nil
  }
}

/// The function stops reading when the strings exceed the maximum size of a record.
func strings(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
  var result: [[UInt8]] = []
  var size = 0
  var next = list
  while let item = next, size <= DiscoveryInfo.maximumSize {
    let count = avahi_string_list_get_size(item)
    result.append(Array(UnsafeBufferPointer(start: avahi_string_list_get_text(item), count: count)))
    size += 1 + count
    next = avahi_string_list_get_next(item)
  }
  return result
}
