import Glibc
import PeerCore

final class DatagramSocket {
  private let descriptor: Int32

  init(name: [UInt8]) {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let result = withUnixAddress(name) { bind(descriptor, $0, $1) }
    precondition(result == 0, "a socket is bound")
  }

  deinit { close(descriptor) }

  func received() -> [String] {
    var datagrams: [String] = []
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      guard count >= 0 else { return datagrams }
      datagrams.append(String(decoding: bytes.prefix(count), as: UTF8.self))
    }
  }
}
