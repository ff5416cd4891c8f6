import Foundation
import FoundationXML
import Testing
import WhiteboardRelay

struct FirewallProfileTests {
  @Test("ufw's profile names each port and protocol") func isForUFW() {
    let lines = FirewallProfile(port: 4_000, webPort: 4_001).ufw.split(separator: "\n")
    #expect(lines.first == "[whiteboard-relay]")
    #expect(lines.last == "ports=4000,4001/tcp|4000,5353/udp")
    #expect(lines.dropFirst().allSatisfy { $0.split(separator: "=", maxSplits: 1).count == 2 })
  }

  @Test("firewalld's service is XML with each port and protocol, and multicast DNS") func isForFirewalld() {
    final class Reader: NSObject, XMLParserDelegate {
      var elements: [String] = []

      func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
      ) {
        let pairs = attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        elements.append(name + pairs.joined())
      }
    }
    let parser = XMLParser(data: Data(FirewallProfile().firewalld.utf8))
    let reader = Reader()
    parser.delegate = reader
    #expect(parser.parse())
    #expect(
      reader.elements == [
        "service", "short", "description", "port port=26273 protocol=tcp", "port port=26273 protocol=udp",
        "port port=26443 protocol=tcp", "include service=mdns",
      ]
    )
  }
}
