import PeerCore
import PeerDiscovery

/// Checks a stranger's TXT record, and every text in it as it is displayed.
func fuzzDiscovery(_ input: inout Input) {
  let bytes = input.rest()
  if let info = try? DiscoveryInfo(wireBytes: bytes) {
    insist(info.wireSize <= DiscoveryInfo.maximumSize, "a record is within its limit")
    insist(info.wireSize == info.wireBytes.count, "the size is that of the bytes")
    insist(try DiscoveryInfo(wireBytes: info.wireBytes) == info, "a record decodes to what was encoded")
    for pair in info.pairs { insist(info.contains(pair.key), "every key of the record is found") }
  }
  if let announcement = try? Announcement.parse(bytes) {
    show(announcement.boardName)
    show(announcement.hostName)
    insist(
      announcement.boardName.raw.utf8.count <= Announcement.maximumBoardNameSize
        && announcement.hostName.raw.utf8.count <= Announcement.maximumHostNameSize,
      "names are cut to their limits"
    )
    let again = try? Announcement(announcement.info)
    insist(
      again?.peer == announcement.peer && again?.session == announcement.session
        && again?.boardName == announcement.boardName && again?.role == announcement.role,
      "an announcement decodes to what was encoded"
    )
  }
  show(UntrustedText(bytes: bytes))
}

private func show(_ text: UntrustedText) {
  for scalar in text.displayed.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
      preconditionFailure("U+\(String(scalar.value, radix: 16)) is shown")
    default: break
    }
  }
}
