public import PeerDiscovery

/// A host on an `InMemoryNetwork`, with an advertiser and a browser.
public struct InMemoryHost: Advertiser, Browser {
  /// The name by which the network's methods select the host.
  public let name: String
  /// The only interface of the host.
  public let interface: NetworkInterface
  /// The addresses that the host announces.
  public let addresses: [NetworkAddress]

  private let network: InMemoryNetwork

  /// Creates a host; use `InMemoryNetwork.host(named:)` if the name and the addresses of the host do not matter.
  public init(name: String, interface: NetworkInterface, addresses: [NetworkAddress], network: InMemoryNetwork) {
    self.name = name
    self.interface = interface
    self.addresses = addresses
    self.network = network
  }

  /// Advertises while `body` runs; see `Advertiser`.
  nonisolated(nonsending) public func advertise<Result>(
    _ advertisement: Advertisement,
    _ body: nonisolated(nonsending) (Advertising) async throws -> Result
  ) async rethrows -> Result {
    let (signal, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let network = network
    let id = await network.register(advertisement, on: self, signal: continuation)
    let events = DiscoveryEvents(signal: signal) { await network.popAdvertiserEvent(id) }
    let handle = Advertising(advertisement.announcement, events: events) { await network.replace(id, with: $0) }
    do {
      let result = try await body(handle)
      await network.unregister(id)
      return result
    } catch {
      await network.unregister(id)
      throw error
    }
  }

  /// Browses while `body` runs; see `Browser`.
  nonisolated(nonsending) public func browse<Result>(
    _ query: BrowserQuery,
    _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
  ) async rethrows -> Result {
    let (signal, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let network = network
    let id = await network.addBrowser(query, on: self, signal: continuation)
    let events = DiscoveryEvents(signal: signal) { await network.popBrowserEvent(id) }
    do {
      let result = try await body(events)
      await network.removeBrowser(id)
      return result
    } catch {
      await network.removeBrowser(id)
      throw error
    }
  }
}
