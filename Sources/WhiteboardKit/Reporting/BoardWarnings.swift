import Whiteboard
import WhiteboardSync

/// The warnings about a board and its members.
///
/// `member` is the name of the member with its id prefix, safe to display.
extension BoardEvent.Remark {
  /// Returns the warning that the boards of a member and of the local peer differ although both have the same changes.
  static func diverged(from member: String) -> Self {
    Self(
      code: "diverged",
      message: "The boards here and at \(member) differed although both had received the same "
        + "changes. They are being made equal again."
    )
  }

  /// Returns the warning that the board has no room for the changes of a member.
  static func boardFull(for member: String) -> Self {
    Self(
      code: "board-full",
      message: "There is no room here for some changes by \(member): the board is full, or an "
        + "author has written the most that one author may write. Purge deleted objects on either "
        + "side. The missing data then arrives within a minute."
    )
  }

  /// Returns the warning that some photos of an author exceed the limits, and are not requested.
  static func photosLeftOut(of author: String) -> Self {
    Self(
      code: "photos-left-out",
      message: "Some photos of \(author) are not requested: the photos of one author may have "
        + "\(BoardLimits.photoBytesPerAuthor >> 20) MiB on a board, and all photos "
        + "\(BoardLimits.photoBytesOfBoard >> 30) GiB. If photos are purged, others are requested within a minute."
    )
  }

  /// Returns the warning that the copy of a member contains authors without a signed record.
  static func unrecordedAuthors(in member: String) -> Self {
    Self(
      code: "unrecorded-authors",
      message: "\(member)'s copy of the board names authors without a signed record, "
        + "so it was not merged. If an earlier version saved that copy, \(member) "
        + "can repair it by closing the board and opening it again with this version. "
        + "Otherwise \(member) may be trying to fill the board; remove that peer with `kick`."
    )
  }

  /// Returns the warning that a member deleted objects that the local user had changed in the meantime.
  ///
  /// - Parameters:
  ///   - ids: The objects.
  ///   - author: The member that deleted them; nil if they were purged.
  /// - Returns: The warning.
  static func deletedUnseen(_ ids: [ObjectID], by author: String?) -> Self {
    let what = ids.count == 1 ? "an object" : "\(ids.count) objects"
    var names = ids.prefix(4).map(\.description).joined(separator: ", ")
    if ids.count > 4 { names += ", …" }
    let end =
      author == nil
      ? "Purged objects cannot be restored." : "Restore \(ids.count == 1 ? "it" : "them") with `undelete`."
    return Self(
      code: "deleted-meanwhile",
      message: "Before your changes arrived, \(author ?? "another member") "
        + "\(author == nil ? "purged" : "deleted") \(what) that you changed: \(names). \(end)"
    )
  }

  /// Returns the warning that a member broke the rules of the board.
  static func violation(by member: String, _ error: ReplicaError) -> Self {
    Self(code: error.code, message: "\(member) sent data that breaks the rules of the board, and was disconnected.")
  }
}
