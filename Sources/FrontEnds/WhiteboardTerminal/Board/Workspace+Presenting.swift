import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The frames of the board, shown one after the other. Members who follow the user see the same frame.
struct Presentation: Hashable, Sendable {
  var frame: ObjectID
  /// The index of the frame when it was last shown, in case the frame is deleted.
  fileprivate var index: Int
  /// The tool that the user had before.
  fileprivate let tool: Tool

  /// Returns the number of frames by which a key goes forward; nil if the key has no meaning in a presentation.
  fileprivate static func step(_ key: InputEvent.Key) -> Int? {
    switch key {
    case .right, .down, .pageDown, .enter, .character(" "): 1
    case .left, .up, .pageUp, .backspace: -1
    case .home: -.max
    case .end: .max
    default: nil
    }
  }
}

extension Workspace {
  /// Presents the frames, beginning with the selected frame.
  mutating func present() -> [BoardEffect] {
    let frames = scene.frames
    guard let first = frames.first else {
      return [.message("there are no frames to present; :frame X,Y label=NAME adds one")]
    }
    let frame = scene.onlySelected.flatMap { selected in frames.first { $0 == selected.id } } ?? first
    let before = endEditing() + (scene.selection.isEmpty ? [] : requests.issue(.deselect))
    presentation = Presentation(frame: frame, index: 0, tool: presentation?.tool ?? toolbox.tool)
    // Others see where the presenter points.
    toolbox.tool = .laser
    return before + showFrame(by: 0)
  }

  mutating func endPresentation() {
    guard let presentation else { return }
    toolbox.tool = presentation.tool
    self.presentation = nil
  }

  mutating func present(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [BoardEffect]? {
    guard presentation != nil, modifiers.isEmpty else { return nil }
    if let step = Presentation.step(key) { return showFrame(by: step) }
    guard key == .escape || key == .character("q") else { return nil }
    endPresentation()
    return []
  }

  /// Shows the frame again if it was changed or deleted, or if the screen has another size.
  mutating func refreshPresentation() { if presentation != nil { _ = showFrame(by: 0) } }

  private mutating func showFrame(by step: Int) -> [BoardEffect] {
    guard var presentation else { return [] }
    let frames = scene.frames
    guard !frames.isEmpty else {
      endPresentation()
      return [.message("there are no more frames to present")]
    }
    let present = frames.firstIndex(of: presentation.frame) ?? min(presentation.index, frames.count - 1)
    let next = present.addingReportingOverflow(step)
    presentation.index =
      next.overflow || next.partialValue >= frames.count ? frames.count - 1 : max(next.partialValue, 0)
    presentation.frame = frames[presentation.index]
    self.presentation = presentation
    guard let bounds = scene.snapshot(presentation.frame)?.bounds else { return [] }
    return moveView { $0.show(bounds, room: 0.98) }
  }

  /// The number and the name of the frame that is presented; nil if there is no presentation.
  var presented: String? {
    guard let presentation else { return nil }
    let name = UntrustedText(scene.snapshot(presentation.frame)?.text ?? "").displayed
    return "frame \(presentation.index + 1) of \(scene.frames.count)" + (name.isEmpty ? "" : ": \(name)")
  }

  // MARK: - Links

  /// Follows the link of the selected object: goes to the linked object, or asks whether to open the address.
  mutating func openLink() -> [BoardEffect] {
    guard let selected = scene.onlySelected else { return [.message("select the object whose link you want to open")] }
    guard let link = selected.link else { return [.message("this object has no link; :link ID ADDRESS adds one")] }
    guard link.hasPrefix("#") else { return [.linkFollowed(link)] }
    guard let id = ObjectID(String(link.dropFirst())), scene.snapshot(id) != nil else {
      return [.problem("the link leads to an object that is no longer on the board")]
    }
    return go(to: id, isCentered: true)
  }
}
