import Whiteboard
import WhiteboardSync

/// The contents of a resource, as described by its name.
enum ResourceContent {
  /// A catch-up answer with its name and request number (SYN-13).
  case answer(ResourceDTO, request: UInt64)
  /// A photo (SYN-37).
  case asset(AssetID)
  /// A file for the user.
  case file

  /// Decodes the name of a resource.
  init(named name: String) {
    guard let name = try? ResourceDTO(name: name) else {
      self = .file
      return
    }
    if name.type == .whiteboard, let request = name.request {
      self = .answer(name, request: request)
    } else if name.type == .imageData, !name.isDeleted, let asset = name.sha256 {
      self = .asset(asset)
    } else {
      self = .file
    }
  }

  /// Whether the resource is a catch-up answer.
  var isAnswer: Bool { if case .answer = self { true } else { false } }
}
