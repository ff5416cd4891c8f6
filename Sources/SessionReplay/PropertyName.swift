import Whiteboard

extension Property {
  var name: String? { Self.names[number] }

  /// The display names of the properties, by number (BRD-8).
  static let names: [UInt16: String] = [
    0: "position", 1: "scale", 2: "angle", 3: "deleted", 4: "selection", 5: "size", 6: "order", 7: "created",
    8: "purged", 9: "color", 10: "line width", 11: "photo", 12: "stroke ended", 13: "author", 14: "name", 15: "said",
    16: "time", 17: "group", 18: "lock", 19: "game", 20: "set-up", 21: "icon", 22: "replaces", 23: "title",
    24: "background", 25: "grid", 26: "language", 64: "ink", 128: "letters", 129: "letters deleted", 130: "erased",
    131: "move",
  ]
}
