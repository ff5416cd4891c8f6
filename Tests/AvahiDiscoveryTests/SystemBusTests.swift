import CAvahi
import Foundation
import PeerCore
import PeerDiscovery
import Testing

@testable import AvahiDiscovery

struct SystemBusTests {
  @Test("the path of the socket is read from the address of the bus") func findsSocket() {
    #expect(SystemBus.socketPath(inAddress: "unix:path=/run/bus") == "/run/bus")
    #expect(SystemBus.socketPath(inAddress: "unix:guid=1,path=/run/bus,x=y;tcp:host=a") == "/run/bus")
    #expect(SystemBus.socketPath(inAddress: "unix:abstract=bus") == nil)
    #expect(SystemBus.socketPath(inAddress: "tcp:host=localhost") == nil)
    #expect(SystemBus.socketPath(inAddress: "") == nil)
  }

  @Test("[DSC-20] a bus that is missing or was closed is reported; one that answers is not") func probesBus() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appendingPathComponent("bus").path
    #expect(SystemBus.problem(socket: path) == .busNotRunning)
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(listener >= 0)
    let bound = withUnixAddress(path.utf8) { bind(listener, $0, $1) }
    try #require(bound == 0 && listen(listener, 1) == 0)
    #expect(SystemBus.problem(socket: path) == nil)
    close(listener)
    #expect(SystemBus.problem(socket: path) == .busNotRunning)
  }

  @Test("[DSC-20] errors of the daemon become problems that a user can fix") func translatesErrors() {
    #expect(AvahiConfiguration.problem(Int32(AVAHI_ERR_ACCESS_DENIED)) == .busRefused)
    #expect(AvahiConfiguration.problem(Int32(AVAHI_ERR_NOT_PERMITTED)) == .publishingDisabled)
    #expect(AvahiConfiguration.problem(Int32(AVAHI_ERR_TOO_MANY_OBJECTS)) == .daemonBusy)
    #expect(AvahiConfiguration.problem(Int32(AVAHI_ERR_DISCONNECTED)) == .daemonNotRunning)
    let other = AvahiConfiguration.problem(Int32(AVAHI_ERR_TIMEOUT))
    #expect(other == .failed(code: -15, reason: "Timeout reached"))
    #expect("\(other)".hasPrefix("Avahi failed: Timeout reached (-15)."))
    var bare = AvahiConfiguration()
    bare.installation = []
    #expect(bare.problem(connecting: Int32(AVAHI_ERR_NO_DAEMON)) == .notInstalled)
  }
}
