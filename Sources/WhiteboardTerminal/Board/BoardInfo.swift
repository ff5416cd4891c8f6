import PeerCore
import WhiteboardKit

/// The name of the board, and how others join it.
struct BoardInfo: Hashable, Sendable {
  var id = ""
  /// The board's own name, which is shown if it has no title.
  var ownName = UntrustedText("")
  /// The title; nil or empty if the board has none, for example after an undo.
  var title: UntrustedText?
  /// The join link of the board; empty while the board is offline.
  var link = ""
  var joinCode: String?
  /// The connected peers that can admit newcomers; nil if the local user can.
  var admitters: [BoardEvent.Admitter]?
  /// The browser link; nil if browsers cannot join.
  var webLink: String?
  /// The SHA-256 hash of the certificate; nil if browsers do not warn about it.
  var webFingerprint: String?
  /// Whether discovery shows the board to peers on this network.
  var isAnnounced = false
  /// Whether discovery does not work on this computer.
  var isDiscoveryUnavailable = false
  /// Whether the local user is joining this board and has not received its contents yet.
  var isAwaited = false

  /// The name to show.
  var name: UntrustedText { title.flatMap { $0.isEmpty ? nil : $0 } ?? ownName }
}
