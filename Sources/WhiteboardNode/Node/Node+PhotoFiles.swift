import FoundationEssentials
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The files of photos.
///
/// A program that names the files of photos in its output keeps a file of each, besides the copy in the
/// board. Other programs store photos in the board only, and write a file while they read or send the photo.
extension Node {
  /// Returns the path of a photo's file, which stays until ``closePhoto(_:)``; nil if there is no photo.
  ///
  /// Each call needs a call of ``closePhoto(_:)``, whatever it returns.
  package func openPhoto(_ id: AssetID) async -> String? {
    photosInUse[id, default: 0] += 1
    if let path = assetPaths[id] { return path }
    guard let document, let replica, replica.board.assets.contains(id),
      let asset = replica.reference(of: id)
    else { return nil }
    let path = assetPath(id, asset.format)
    if let error = await takeOut(asset, to: path, from: document) {
      // If only the file cannot be written, the photo is still in the board.
      guard [.damaged, .notFound].contains(error.code) else { return nil }
      replica.assetLost(id, now: now)
      performActions()
      return nil
    }
    assetPaths[id] = path
    return path
  }

  /// Handles that a photo's file is no longer read.
  package func closePhoto(_ id: AssetID) {
    guard let count = photosInUse.removeValue(forKey: id), count > 1 else {
      return dropFile(of: id)
    }
    photosInUse[id] = count - 1
  }

  /// Removes a photo's file, if nothing names it, the board has the photo, and the file is not being read.
  func dropFile(of id: AssetID) {
    guard !configuration.keepsPhotoFiles, document != nil, photosInUse[id] == nil,
      !keeper.isWaiting(forPhoto: id.bytes),
      let path = assetPaths.removeValue(forKey: id)
    else { return }
    try? FileManager.default.removeItem(atPath: path)
  }
}
