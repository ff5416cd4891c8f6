/// The type of the value of a key in a line of JSON.
enum JSONKind {
  /// `[x,y]`.
  case point
  /// `[x,y,width,height]`.
  case region
  /// `[[x,y],…]`.
  case points
  /// A number.
  case number
  /// A Boolean.
  case flag
  /// A string.
  case string
  /// A string or a list of strings.
  case peers
  /// A path or a list of paths.
  case files
  /// A string or a whole number, such as an object id or a move in a game.
  case wordOrNumber
  /// A list of object ids.
  case objects

  /// Creates the type of a key in a command; nil if no command has such a key.
  init?(key: String, verb: String?) {
    switch (key, verb) {
    case ("at", "insert"): self = .number
    case ("at", _), ("by", _), ("about", _), ("to", "move"), ("to", "find"): self = .point
    case ("to", "diff"): self = .string
    case ("to", _): self = .peers
    case ("files", _): self = .files
    case ("points", _): self = .points
    case ("region", _): self = .region
    case ("over", _), ("factor", _), ("degrees", _), ("peers", _), ("objects", _), ("seconds", _), ("timeout", _),
      ("width", _), ("height", _), ("radius", _), ("replacing", _), ("grid", _), ("scale", _):
      self = .number
    case ("unreliable", _), ("synced", _), ("inside", _), ("laser", _), ("force", _), ("view", _), ("anyway", _),
      ("always", _), ("withAdmitted", _), ("keepCode", _), ("web", _), ("once", _):
      self = .flag
    case ("id", _), ("above", _), ("below", _), ("move", _): self = .wordOrNumber
    case ("ids", _): self = .objects
    case ("text", _), ("was", _), ("as", _), ("file", _), ("name", _), ("base64", _), ("target", _), ("reason", _),
      ("topic", _), ("color", _), ("place", _), ("game", _), ("opponent", _), ("icon", _), ("from", _), ("role", _),
      ("expires", _), ("title", _), ("background", _), ("language", _), ("line", _), ("author", _), ("state", _):
      self = .string
    default: return nil
    }
  }

  /// The type, for error messages.
  var description: String {
    switch self {
    case .point: "a point, like [10,20]"
    case .region: "a region, like [0,0,400,300]"
    case .points: "a list of points, like [[0,0],[10,20]]"
    case .number: "a number"
    case .flag: "true or false"
    case .string: "a string"
    case .peers: "a peer or a list of peers"
    case .files: "a path or a list of paths"
    case .wordOrNumber: "a string or a whole number"
    case .objects: #"a list of objects, like ["last",12]"#
    }
  }
}
