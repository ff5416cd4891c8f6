import PeerWire

/// A host's request to relay its session, which the application has not answered yet.
struct CarryQuestion: Sendable {
  var request: CarryRequest

  /// Checks the request in a HELLO.
  ///
  /// - Throws: The reason for closing the link.
  init(
    _ carry: Control.Carry,
    _ hello: Control.DiallerHello,
    from host: PeerID,
    address: AddressBlock,
    at relay: PeerID
  ) throws(Refusal) {
    let session = hello.introduction.session
    guard session != .unnamed, carry.grant.isValid(session: session, host: host, relay: relay) else {
      throw Refusal(code: .protocolError, reason: "The signature of the relay grant is not valid.")
    }
    request = CarryRequest(
      session: session,
      host: host,
      hostName: hello.introduction.name,
      name: carry.name,
      admission: carry.policy,
      grant: carry.grant,
      addressBlock: address.text
    )
  }

  /// The reason why the request is refused without asking the application.
  struct Refusal: Error, Equatable {
    var code: CloseCode
    var reason: String
  }
}
