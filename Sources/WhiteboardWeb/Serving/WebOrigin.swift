/// The text forms of hosts and ports in URLs (RFC 6454).
enum WebOrigin {
  /// Returns the host and the port of a page, as browsers send them in the `Host` header.
  ///
  /// `host` is a host name or an IP address without brackets.
  static func authority(host: String, port: Int) -> String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}
