import Testing

@testable import WhiteboardWeb

@Suite("Connections of browsers") struct WebConnectionsTests {
  private final class Connection {}

  @Test("[WEB-55] one address cannot take the places of the others") func places() {
    var connections = WebConnections()
    func enter(_ connection: Connection, from address: String) -> Bool {
      connections.enter(ObjectIdentifier(connection), from: address)
    }
    let flood = (0..<WebConnections.maximumPerAddress).map { _ in Connection() }
    for connection in flood { #expect(enter(connection, from: "10.0.0.1")) }
    let late = Connection()
    #expect(!enter(late, from: "10.0.0.1"))
    #expect(enter(late, from: "10.0.0.2"))
    connections.leave(ObjectIdentifier(flood[0]))
    connections.leave(ObjectIdentifier(flood[0]))
    let next = Connection()
    #expect(enter(next, from: "10.0.0.1"))
    let further = Connection()
    #expect(!enter(further, from: "10.0.0.1"))
  }

  @Test("[WEB-55] browsers leave half of the file descriptors to peers and files") func descriptors() {
    var connections = WebConnections(descriptors: 100)
    let all = (0..<60).map { _ in Connection() }
    let admitted = all.indices.count { connections.enter(ObjectIdentifier(all[$0]), from: "10.0.0.\($0)") }
    #expect(admitted == 50)
  }

  @Test("[WEB-8] an IPv6 address is in brackets, and the usual port is left out") func authorities() {
    #expect(WebOrigin.authority(host: "fd00::2", port: 26_443) == "[fd00::2]:26443")
    #expect(WebOrigin.authority(host: "board.lan", port: 443) == "board.lan")
  }
}
