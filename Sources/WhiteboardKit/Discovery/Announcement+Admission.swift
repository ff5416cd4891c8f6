import PeerDiscovery

extension Announcement {
  private static let admissionKey = "admit"

  /// The announced admission policy of the board; nil if the announcement has none, or an unknown one.
  var admission: BoardConfiguration.Admission? {
    get {
      extra[Self.admissionKey].flatMap { bytes in
        BoardConfiguration.Admission(rawValue: String(decoding: bytes, as: UTF8.self))
      }
    }
    set {
      var info = DiscoveryInfo()
      do throws(DiscoveryInfoError) {
        if let newValue { try info.append(Self.admissionKey, Array(newValue.rawValue.utf8)) }
        try setExtra(info)
      } catch { preconditionFailure("an announcement always has room for this short entry") }
    }
  }
}
