import PeerWire

@testable import PeerSession

private func roundTrip<Payload: ControlPayload>(_ type: Payload.Type, _ bytes: [UInt8]) {
  guard let payload = try? Payload.decode(bytes) else { return }
  let again = payload.encoded()
  insist(try Payload.decode(again) == payload, "\(type) decodes to what was encoded")
}

/// Checks that each decoded payload of a control frame has the same meaning when it is encoded again.
func fuzzControl(_ input: inout Input) {
  let choice = input.byte()
  let bytes = input.rest()
  switch choice % 20 {
  case 0: roundTrip(Control.DiallerHello.self, bytes)
  case 1: roundTrip(Control.ListenerHello.self, bytes)
  case 2: roundTrip(Control.Accept.self, bytes)
  case 3: roundTrip(Control.Close.self, bytes)
  case 4: roundTrip(Control.CodeProof.self, bytes)
  case 5: roundTrip(Control.ShortWordsCommit.self, bytes)
  case 6: roundTrip(Control.ShortWordsNonce.self, bytes)
  case 7: roundTrip(Control.Members.self, bytes)
  case 8: roundTrip(Control.Kick.self, bytes)
  case 9: roundTrip(Control.Addresses.self, bytes)
  case 10: roundTrip(Control.BulkRequest.self, bytes)
  case 11: roundTrip(Control.Attach.self, bytes)
  case 12: roundTrip(Control.ResourceOffer.self, bytes)
  case 13: roundTrip(Control.ResourceAccept.self, bytes)
  case 14: roundTrip(Control.ResourceStart.self, bytes)
  case 15: roundTrip(Control.ResourceEnd.self, bytes)
  case 16: roundTrip(Control.ResourceDone.self, bytes)
  case 17: roundTrip(Control.ResourceCancel.self, bytes)
  case 18: roundTrip(Control.StreamOpen.self, bytes)
  default: roundTrip(Control.StreamReset.self, bytes)
  }
}
