import WhiteboardSync

/// Checks that a resource name from a stranger has the same meaning when it is encoded again.
func fuzzResourceName(_ input: inout Input) {
  let name = String(decoding: input.rest(), as: UTF8.self)
  guard let resource = try? ResourceDTO(name: name) else { return }
  insist(!resource.id.isEmpty && resource.id.utf8.count <= ResourceDTO.idLimit, "an id is short")
  insist(try ResourceDTO(name: resource.name) == resource, "a name decodes to what was encoded")
}
