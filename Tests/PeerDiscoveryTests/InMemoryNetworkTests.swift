import PeerDiscovery
import PeerTestKit
import Testing

struct InMemoryNetworkTests {
  @Test(
    "the network in memory keeps the contract, heard at once or late",
    arguments: DiscoveryContract.all,
    [Duration.zero, .milliseconds(250)]
  )
  func keepsContract(_ contract: DiscoveryContract, _ latency: Duration) async throws {
    try await contract.check(in: InMemoryDiscoveryWorld(seed: 1, latency: latency))
  }
}
