import Testing

@testable import PeerSession

struct AddressBlockTests {
  private func isOne(_ first: String, _ second: String) -> Bool {
    AddressBlock(host: first) == AddressBlock(host: second)
  }

  @Test("all spellings of an IPv4 address count as one address") func version4() {
    #expect(isOne("127.0.0.2", "127.0.0.2"))
    #expect(!isOne("127.0.0.2", "127.0.0.3"))
    #expect(isOne("192.0.2.7", "::ffff:192.0.2.7"))
    #expect(isOne("192.0.2.7", "::ffff:c000:207"))
    #expect(!isOne("::ffff:192.0.2.7", "::ffff:192.0.2.8"))
  }

  @Test("the addresses of one IPv6 /64 count as one, except link-local ones") func version6() {
    #expect(isOne("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff"))
    #expect(!isOne("2001:db8:0:1::1", "2001:db8:0:2::1"))
    #expect(isOne("fe80::1%eth0", "fe80:0::1%eth0"))
    #expect(!isOne("fe80::1%eth0", "fe80::2%eth0"))
    #expect(!isOne("fe80::1%eth0", "fe80::1%eth1"))
  }

  @Test("text that is not an address counts as itself") func other() {
    #expect(isOne("", ""))
    #expect(!isOne("a", "b"))
  }
}
