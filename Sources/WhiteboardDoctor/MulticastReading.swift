/// A reader of the kernel's information about IPv4 multicast, from `/proc/net`.
enum MulticastReading {
  /// The mDNS multicast group, 224.0.0.251, in the notation of the files in `/proc/net`.
  private static let group = "FB0000E0"

  /// Returns the interfaces on which a program listens to mDNS, from `/proc/net/igmp`.
  static func listening(igmp text: String) -> Set<String> {
    var found: Set<String> = []
    var device = ""
    for row in text.split(separator: "\n").dropFirst() {
      let words = row.split(whereSeparator: \.isWhitespace)
      // The line of an interface contains its number and name. The lines of its groups begin with whitespace.
      if row.first?.isNumber == true, words.count >= 2 {
        device = String(words[1].prefix { $0 != ":" })
      } else if words.first.map(String.init) == group {
        found.insert(device)
      }
    }
    return found
  }

  /// Returns whether `/proc/net/route` has a route to the mDNS group.
  static func hasRoute(_ text: String) -> Bool {
    text.split(separator: "\n").dropFirst().contains { row in
      let words = row.split(whereSeparator: \.isWhitespace)
      guard words.count >= 8, let destination = UInt32(words[1], radix: 16), let mask = UInt32(words[7], radix: 16),
        let group = UInt32(Self.group, radix: 16)
      else { return false }
      return group & mask == destination
    }
  }
}
