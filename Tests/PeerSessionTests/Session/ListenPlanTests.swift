import PeerDiscovery
import Testing

@testable import PeerSession

@Suite("Listening", .timeLimit(.minutes(5))) struct ListenPlanTests {
  @Test("if any port will do, a port whose other half is in use is skipped") func anyPort() {
    let any = TransportCore.listenPlan(PeerAddress(host: "127.0.0.1", port: 0))
    #expect(any.hosts == ["127.0.0.1"])
    #expect(any.ports.count > 1 && any.ports.allSatisfy { $0 == 0 })
    let unnamed = TransportCore.listenPlan(nil)
    #expect(unnamed.ports.first == TransportConfiguration.defaultPort)
    #expect(unnamed.ports.suffix(2) == [0, 0])
  }

  @Test("only a requested port is used") func onePort() {
    let plan = TransportCore.listenPlan(PeerAddress(host: "127.0.0.1", port: 7))
    #expect(plan.ports == [7])
  }
}
