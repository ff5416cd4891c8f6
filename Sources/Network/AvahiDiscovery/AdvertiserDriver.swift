import CAvahi
import PeerDiscovery

/// Publishes one announcement, renames it after a name collision, and keeps it up to date. Implements DSC-12, and DSC-8
/// to DSC-11 on the publishing side.
final class AdvertiserDriver: AvahiDriver {
  /// The limit prevents the local peer from flooding the network if another service takes every new name.
  private static let maximumRenames = 8
  private static let renamePeriod = Duration.seconds(10)
  /// The initial and the maximum time that the daemon has to confirm a service. The daemon usually confirms within a
  /// second. If an address of the machine changes during this time, the daemon may never confirm the service, and
  /// announces only a part of its records.
  private static let confirmationTimeouts = Duration.seconds(3)...Duration.seconds(48)

  private let advertisement: Advertisement
  private let inlet: AnnouncementInlet
  private let outlet: EventOutlet<AdvertiserQueue, AdvertiserEvent>
  private let availability: Availability
  private var announcement: Announcement
  private var name: InstanceName
  private var group: OpaquePointer?
  private var states: [AvahiEntryGroupState] = []
  private var announcedName: InstanceName?
  private var renames: [Duration] = []
  private var nextRename: Duration?
  /// The time at which to publish the service again if the daemon does not confirm it.
  private var nextPublication: Duration?
  private var confirmationTimeout = AdvertiserDriver.confirmationTimeouts.lowerBound

  init(
    _ advertisement: Advertisement,
    _ availability: Availability,
    inlet: AnnouncementInlet,
    outlet: EventOutlet<AdvertiserQueue, AdvertiserEvent>
  ) {
    self.advertisement = advertisement
    self.availability = availability
    self.inlet = inlet
    self.outlet = outlet
    announcement = advertisement.announcement
    name = advertisement.announcement.instanceName
  }

  var deadline: Duration? { [nextRename, nextPublication].compactMap(\.self).min() }

  func daemonChanged(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    takeUpdate()
    guard daemon.isRunning else {
      // The daemon is choosing a host name. Withdraw the service, because the host name in it may change.
      if let group { try daemon.check(avahi_entry_group_reset(group)) }
      announcedName = nil
      nextPublication = nil
      return
    }
    if group == nil {
      states.removeAll()
      let context = Unmanaged.passUnretained(self).toOpaque()
      group = avahi_entry_group_new(daemon.client, groupChanged, context)
      guard group != nil else { throw daemon.failure }
    }
    try publish(daemon, now: now)
  }

  func work(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    let states = self.states
    self.states.removeAll()
    for state in states {
      switch state {
      case AVAHI_ENTRY_GROUP_ESTABLISHED:
        nextPublication = nil
        confirmationTimeout = Self.confirmationTimeouts.lowerBound
        guard announcedName != name else { continue }
        announcedName = name
        outlet.push(.announced(name))
      case AVAHI_ENTRY_GROUP_COLLISION: try rename(daemon, now: now)
      case AVAHI_ENTRY_GROUP_FAILURE: throw daemon.failure
      default: break
      }
    }
    if let due = nextRename, due <= now {
      nextRename = nil
      try rename(daemon, now: now)
    }
    if let due = nextPublication, due <= now {
      // A slow daemon needs more time for the next attempt.
      confirmationTimeout = min(confirmationTimeout * 2, Self.confirmationTimeouts.upperBound)
      try publish(daemon, now: now)
    }
    if takeUpdate() { try update(daemon) }
  }

  func disconnected(_ problem: DiscoveryProblem, now: Duration) {
    group = nil
    states.removeAll()
    announcedName = nil
    nextRename = nil
    nextPublication = nil
    if availability.becameUnavailable(problem) { outlet.push(.unavailable(problem)) }
  }

  func idle(now: Duration) { takeUpdate() }

  func answered() {
    guard group != nil else { return }
    if availability.becameAvailable() { outlet.push(.available) }
    if let announcedName { outlet.push(.announced(announcedName)) }
  }

  @discardableResult private func takeUpdate() -> Bool {
    guard let update = inlet.take(), update != announcement else { return false }
    announcement = update
    return true
  }

  private func publish(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    guard let group else { return }
    if avahi_entry_group_is_empty(group) == 0 { try daemon.check(avahi_entry_group_reset(group)) }
    let status = withStringList(announcement.info) { txt in
      avahi_entry_group_add_service_strlst(
        group,
        daemon.interface,
        whiteboard_avahi_any_protocol,
        AvahiPublishFlags(rawValue: 0),
        name.text,
        advertisement.service.text,
        nil,
        nil,
        advertisement.port,
        txt
      )
    }
    guard status != Int32(AVAHI_ERR_COLLISION) else { return try rename(daemon, now: now) }
    try daemon.check(status)
    if announcement.role == .relay {
      try daemon.check(
        avahi_entry_group_add_service_subtype(
          group,
          daemon.interface,
          whiteboard_avahi_any_protocol,
          AvahiPublishFlags(rawValue: 0),
          name.text,
          advertisement.service.text,
          nil,
          "_relay._sub.\(advertisement.service.text)"
        )
      )
    }
    try daemon.check(avahi_entry_group_commit(group))
    nextPublication = now + confirmationTimeout
    if availability.becameAvailable() { outlet.push(.available) }
  }

  private func update(_ daemon: AvahiDaemon) throws(AvahiFailure) {
    guard let group, daemon.isRunning, nextRename == nil else { return }
    let status = withStringList(announcement.info) { txt in
      avahi_entry_group_update_service_txt_strlst(
        group,
        daemon.interface,
        whiteboard_avahi_any_protocol,
        AvahiPublishFlags(rawValue: 0),
        name.text,
        advertisement.service.text,
        nil,
        txt
      )
    }
    guard status != Int32(AVAHI_ERR_NO_CHANGE) else { return }
    try daemon.check(status)
  }

  private func rename(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    nextPublication = nil
    guard nextRename == nil else { return }
    renames.removeAll { now - $0 >= Self.renamePeriod }
    if let oldest = renames.first, renames.count >= Self.maximumRenames {
      nextRename = oldest + Self.renamePeriod
      return
    }
    renames.append(now)
    var random = SystemRandomNumberGenerator()
    let old = name
    name = InstanceName.renamed(peer: announcement.peer, session: announcement.session, using: &random)
    announcedName = nil
    outlet.push(.renamed(from: old, to: name))
    try publish(daemon, now: now)
  }

  fileprivate func note(_ state: AvahiEntryGroupState) { states.append(state) }
}

private func groupChanged(_: OpaquePointer?, _ state: AvahiEntryGroupState, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<AdvertiserDriver>.fromOpaque(context).takeUnretainedValue().note(state)
}

/// The list is built from its end, because libavahi adds strings at the start.
private func withStringList<Result>(_ info: DiscoveryInfo, _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result)
  -> Result
{
  var list: UnsafeMutablePointer<AvahiStringList>?
  for string in info.strings.reversed() { list = avahi_string_list_add_arbitrary(list, string, string.count) }
  defer { avahi_string_list_free(list) }
  return body(list)
}
