import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite struct AuthorRegistryTests {
  @Test("[BRD-37] the incarnations of each author are those of its records") func byAuthor() {
    let world = World(seed: 3, nodes: 3)
    world.connectAll()
    for step in 0..<200 {
      world.edit(step % 3)
      world.step(25)
    }
    for node in world.nodes {
      let registry = node.replica.registry
      let grouped = Dictionary(grouping: registry.all, by: \.member).mapValues { Set($0.map(\.incarnation)) }
      #expect(grouped.count == 3)
      for (author, incarnations) in grouped { #expect(registry.incarnations(of: author) == incarnations) }
    }
  }
}
