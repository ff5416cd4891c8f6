extension JSONTree {
  package init?(_ json: String) {
    guard let tree = try? JSONReader.read(Array(json.utf8)) else { return nil }
    self = tree
  }
}
