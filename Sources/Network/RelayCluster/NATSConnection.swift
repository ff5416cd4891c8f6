#if CLUSTER
import CNats
import Glibc
import NIOConcurrencyHelpers
import NIOPosix

/// A connection to a cluster of NATS servers with JetStream.
///
/// Live messages use core NATS, which has no leader and so never stalls. The log consists of fixed streams with three
/// copies. Shared values are in a bucket of JetStream's key-value store. Many functions of libnats block, so they run
/// on threads of this connection.
final class NATSConnection: ClusterConnection {
  /// How long a call waits for the answer of JetStream before it is repeated. Electing a leader takes up to 7 s.
  private static let patience = 1_000
  private static let limit = Duration.seconds(15)
  private static let copies = 3
  private static let bucket = "whiteboard"

  private let handle: NATSHandle
  private let threads: NIOThreadPool
  private let events: NATSEvents
  private let knownStreams = NIOLockedValueBox<Set<Int>>([])
  private let hasBucket = NIOLockedValueBox(false)

  var maximumPayload: Int { Int(natsConnection_GetMaxPayload(handle.connection)) }

  var isConnected: Bool { natsConnection_Status(handle.connection) == NATS_CONN_STATUS_CONNECTED }

  private init(_ handle: NATSHandle, _ threads: NIOThreadPool, _ events: NATSEvents) {
    self.handle = handle
    self.threads = threads
    self.events = events
  }

  static func check(_ settings: ClusterSettings) throws(ClusterError) {
    var options: OpaquePointer?
    natsOptions_Create(&options)
    defer { natsOptions_Destroy(options) }
    try NATSHandle.apply(settings, to: options)
  }

  static func connect(_ settings: ClusterSettings) async throws(ClusterError) -> NATSConnection {
    // A read of a log or of all values occupies a thread until it ends.
    let threads = NIOThreadPool(numberOfThreads: 4)
    threads.start()
    let events = NATSEvents()
    do throws(ClusterError) {
      let handle = try await onThread(of: threads) { () throws(ClusterError) in try NATSHandle(settings, events) }
      return NATSConnection(handle, threads, events)
    } catch {
      try? await threads.shutdownGracefully()
      throw error
    }
  }

  func close() async {
    try? await threads.runIfActive { [handle] in natsConnection_Close(handle.connection) }
    try? await threads.shutdownGracefully()
    events.endAll()
  }

  // MARK: - Live messages

  func publish(_ payload: [UInt8], to subject: ClusterSubject) throws(ClusterError) {
    try check(payload)
    let status = natsConnection_Publish(handle.connection, subject.live, payload, Int32(payload.count))
    guard status == NATS_OK else { throw ClusterError(status, "publish a message") }
  }

  func feed(of subject: ClusterSubject) async throws(ClusterError) -> ClusterFeed {
    try await subscribe(to: subject.live)
  }

  private func subscribe(to subject: String) async throws(ClusterError) -> ClusterFeed {
    try await onThread { [handle, events] () throws(ClusterError) in
      let feed = ClusterFeed(try .subscribed(handle.connection, to: subject, events))
      // When this call returns, the server knows the subscription.
      let status = natsConnection_FlushTimeout(handle.connection, Int64(Self.patience))
      guard status == NATS_OK else { throw ClusterError(status, "subscribe to messages") }
      return feed
    }
  }

  func request(_ payload: [UInt8], to subject: ClusterSubject, within limit: Duration) async throws(ClusterError)
    -> [UInt8]
  {
    try check(payload)
    return try await onThread { [handle] () throws(ClusterError) in
      var answer: OpaquePointer?
      let status = natsConnection_Request(
        &answer,
        handle.connection,
        subject.live,
        payload,
        Int32(payload.count),
        limit.milliseconds
      )
      defer { natsMsg_Destroy(answer) }
      guard status == NATS_OK else { throw ClusterError(status, "request an answer") }
      return bytes(of: answer)
    }
  }

  func reply(_ payload: [UInt8], to message: ClusterMessage) throws(ClusterError) {
    guard let address = message.replyAddress else { return }
    try check(payload)
    let status = natsConnection_Publish(handle.connection, address, payload, Int32(payload.count))
    guard status == NATS_OK else { throw ClusterError(status, "reply to a request") }
  }

  // MARK: - The log

  func append(_ payload: [UInt8], id: String, to subject: ClusterSubject, within limit: Duration)
    async throws(ClusterError) -> LogPosition
  {
    try check(payload)
    return try await repeating(within: limit) { [handle] () throws(ClusterError) in
      try self.createStream(subject.shard)
      var acknowledgement: UnsafeMutablePointer<jsPubAck>?
      var options = jsPubOptions()
      jsPubOptions_Init(&options)
      options.MaxWait = Int64(Self.patience)
      var code = jsErrCode(0)
      let status = id.withCString { id in
        options.MsgId = id
        return js_Publish(
          &acknowledgement,
          handle.jetStream,
          subject.stored,
          payload,
          Int32(payload.count),
          &options,
          &code
        )
      }
      defer { jsPubAck_Destroy(acknowledgement) }
      guard status == NATS_OK, let acknowledgement else {
        throw ClusterError(status, "append to the log", code)
      }
      return LogPosition(acknowledgement.pointee.Sequence)
    }
  }

  func entries(of subject: ClusterSubject, after position: LogPosition, limit: Int) async throws(ClusterError)
    -> [LogEntry]
  {
    try await repeating(within: Self.limit) { [handle] () throws(ClusterError) in
      try self.createStream(subject.shard)
      let stream = streamName(subject.shard)
      var (code, last): (jsErrCode, OpaquePointer?) = (jsErrCode(0), nil)
      var options = jsOptions()
      jsOptions_Init(&options)
      options.Wait = Int64(Self.patience)
      let found = js_GetLastMsg(&last, handle.jetStream, stream, subject.stored, &options, &code)
      defer { natsMsg_Destroy(last) }
      if found == NATS_NOT_FOUND || code == JSNoMessageFoundErr { return [] }
      guard found == NATS_OK else { throw ClusterError(found, "read the log", code) }
      let end = natsMsg_GetSequence(last)
      guard end > position.number else { return [] }
      return try self.read(subject, in: stream, after: position.number, through: end, limit)
    }
  }

  /// Reads entries with an ordered consumer, which ends with this call.
  private func read(
    _ subject: ClusterSubject,
    in stream: String,
    after position: UInt64,
    through end: UInt64,
    _ limit: Int
  ) throws(ClusterError) -> [LogEntry] {
    var (code, subscription): (jsErrCode, OpaquePointer?) = (jsErrCode(0), nil)
    var options = jsSubOptions()
    jsSubOptions_Init(&options)
    options.Ordered = true
    options.Config.DeliverPolicy = js_DeliverByStartSequence
    options.Config.OptStartSeq = position + 1
    let status = stream.withCString { stream in
      options.Stream = stream
      return js_SubscribeSync(&subscription, handle.jetStream, subject.stored, nil, &options, &code)
    }
    defer { natsSubscription_Destroy(subscription) }
    guard status == NATS_OK else { throw ClusterError(status, "read the log", code) }
    var entries: [LogEntry] = []
    while entries.count < limit, entries.last.map({ $0.position.number < end }) ?? true {
      var message: OpaquePointer?
      let status = natsSubscription_NextMsg(&message, subscription, Int64(Self.patience))
      defer { natsMsg_Destroy(message) }
      guard status == NATS_OK else { throw ClusterError(status, "read the log") }
      var data: UnsafeMutablePointer<jsMsgMetaData>?
      let known = natsMsg_GetMetaData(&data, message)
      defer { jsMsgMetaData_Destroy(data) }
      guard known == NATS_OK, let data else { throw ClusterError(known, "read the log") }
      entries.append(LogEntry(LogPosition(data.pointee.Sequence.Stream), bytes(of: message)))
    }
    return entries
  }

  /// Creates the stream of a shard when it is used for the first time.
  private func createStream(_ shard: Int) throws(ClusterError) {
    guard !knownStreams.withLockedValue({ $0.contains(shard) }) else { return }
    var configuration = jsStreamConfig()
    jsStreamConfig_Init(&configuration)
    try create(streamName(shard), "wb.log.\(shard).>", &configuration)
    _ = knownStreams.withLockedValue { $0.insert(shard) }
  }

  // MARK: - Shared values

  func values() async throws(ClusterError) -> [String: ClusterValue] {
    try await withBucket { (bucket) throws(ClusterError) in
      var (watcher, options): (OpaquePointer?, kvWatchOptions) = (nil, kvWatchOptions())
      kvWatchOptions_Init(&options)
      options.IgnoreDeletes = true
      let status = kvStore_WatchAll(&watcher, bucket, &options)
      guard status == NATS_OK else { throw ClusterError(status, "read the shared values") }
      defer { kvWatcher_Destroy(watcher) }
      var values: [String: ClusterValue] = [:]
      while true {
        var entry: OpaquePointer?
        let status = kvWatcher_Next(&entry, watcher, Int64(Self.patience))
        guard status == NATS_OK else { throw ClusterError(status, "read the shared values") }
        // After the last value, there is no entry.
        guard let entry else { return values }
        values[String(cString: kvEntry_Key(entry))] = sharedValue(of: entry)
        kvEntry_Destroy(entry)
      }
    }
  }

  func value(of key: ClusterSubject) async throws(ClusterError) -> ClusterValue? {
    try await withBucket { (bucket) throws(ClusterError) in
      var entry: OpaquePointer?
      let status = kvStore_Get(&entry, bucket, key.text)
      defer { kvEntry_Destroy(entry) }
      if status == NATS_NOT_FOUND { return nil }
      guard status == NATS_OK, let entry else { throw ClusterError(status, "read a shared value") }
      return sharedValue(of: entry)
    }
  }

  func set(_ bytes: [UInt8], of key: ClusterSubject, ifRevision revision: UInt64?) async throws(ClusterError)
    -> UInt64
  {
    try check(bytes)
    return try await withBucket { (bucket) throws(ClusterError) in
      var new: UInt64 = 0
      let count = Int32(bytes.count)
      let status =
        switch revision {
        case nil: kvStore_Put(&new, bucket, key.text, bytes, count)
        case 0: kvStore_Create(&new, bucket, key.text, bytes, count)
        case let revision?: kvStore_Update(&new, bucket, key.text, bytes, count, revision)
        }
      guard status == NATS_OK else {
        let error = ClusterError(status, "store a shared value")
        // libnats has no code for this failure.
        guard revision != nil, error.details?.contains("wrong last sequence") == true else { throw error }
        throw ClusterError(.conflict, "the shared value \(key.text) has changed", details: error.details)
      }
      return new
    }
  }

  func removeValue(of key: ClusterSubject) async throws(ClusterError) {
    try await withBucket { (bucket) throws(ClusterError) in
      let status = kvStore_Delete(bucket, key.text)
      guard status == NATS_OK else { throw ClusterError(status, "remove a shared value") }
    }
  }

  func valueChanges() async throws(ClusterError) -> ClusterFeed { try await subscribe(to: "$KV.\(Self.bucket).>") }

  private func withBucket<Result: Sendable>(
    _ body: @escaping @Sendable (OpaquePointer?) throws(ClusterError) -> Result
  ) async throws(ClusterError) -> Result {
    try await repeating(within: Self.limit) { [handle, hasBucket] () throws(ClusterError) in
      if !hasBucket.withLockedValue({ $0 }) {
        try self.createBucket()
        hasBucket.withLockedValue { $0 = true }
      }
      var bucket: OpaquePointer?
      defer { kvStore_Destroy(bucket) }
      let status = js_KeyValue(&bucket, handle.jetStream, Self.bucket)
      guard status == NATS_OK else { throw ClusterError(status, "open the shared values") }
      return try body(bucket)
    }
  }

  /// Creates the stream of the bucket. Unlike js_CreateKeyValue, does not allow reads from followers, which may not
  /// have the last value yet.
  private func createBucket() throws(ClusterError) {
    var configuration = jsStreamConfig()
    jsStreamConfig_Init(&configuration)
    configuration.MaxMsgsPerSubject = 1
    configuration.AllowRollup = true
    configuration.DenyDelete = true
    configuration.Discard = js_DiscardNew
    try create("KV_\(Self.bucket)", "$KV.\(Self.bucket).>", &configuration)
  }

  /// Creates a stream with one subject, unless it exists. Blocks for about half a second if the stream is new.
  private func create(_ name: String, _ subject: String, _ configuration: inout jsStreamConfig) throws(ClusterError) {
    var code = jsErrCode(0)
    var options = jsOptions()
    jsOptions_Init(&options)
    var information: UnsafeMutablePointer<jsStreamInfo>?
    var status = js_GetStreamInfo(&information, handle.jetStream, name, &options, &code)
    jsStreamInfo_Destroy(information)
    if status == NATS_NOT_FOUND || code == JSStreamNotFoundErr {
      configuration.Storage = js_FileStorage
      configuration.Replicas = Int64(Self.copies)
      configuration.Duplicates = 120_000_000_000
      status = name.withCString { name in
        subject.withCString { subject in
          var list: [UnsafePointer<CChar>?] = [subject]
          configuration.Name = name
          return list.withUnsafeMutableBufferPointer { list in
            configuration.Subjects = list.baseAddress
            configuration.SubjectsLen = 1
            return js_AddStream(nil, handle.jetStream, &configuration, &options, &code)
          }
        }
      }
    }
    guard status == NATS_OK else { throw ClusterError(status, "create the stream \(name)", code) }
  }

  // MARK: - Calls

  private func check(_ payload: [UInt8]) throws(ClusterError) {
    guard payload.count <= maximumPayload || maximumPayload == 0 else {
      throw ClusterError(.tooLarge, "the payload has \(payload.count) bytes, and the servers allow \(maximumPayload)")
    }
  }

  /// Repeats a call while the cluster does not answer, because a stream has no leader for some seconds after the loss
  /// of a server.
  private func repeating<Result: Sendable>(
    within limit: Duration,
    _ body: @escaping @Sendable () throws(ClusterError) -> Result
  ) async throws(ClusterError) -> Result {
    let deadline = ContinuousClock.now + limit
    var pause = Duration.milliseconds(50)
    while true {
      do throws(ClusterError) { return try await onThread(body) } catch {
        // The servers do not answer a request that they refuse.
        if error.code == .unavailable, let refusal = events.refusal {
          throw ClusterError(
            .unauthorized,
            "the NATS servers do not permit what this relay needs; allow its user to publish and subscribe to wb.>, "
              + "$KV.whiteboard.>, $JS.API.> and _INBOX.>",
            details: refusal
          )
        }
        guard error.code == .unavailable, ContinuousClock.now + pause < deadline else { throw error }
      }
      do { try await ContinuousClock().sleep(for: pause) } catch {
        throw ClusterError(.unavailable, "the call was canceled")
      }
      pause = min(pause * 2, .seconds(1))
    }
  }

  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws(ClusterError) -> Result)
    async throws(ClusterError) -> Result
  { try await Self.onThread(of: threads, body) }

  private static func onThread<Result: Sendable>(
    of threads: NIOThreadPool,
    _ body: @escaping @Sendable () throws(ClusterError) -> Result
  ) async throws(ClusterError) -> Result {
    do { return try await threads.runIfActive { try body() } } catch let error as ClusterError { throw error } catch {
      throw ClusterError(.closed, "the connection to the cluster is closed")
    }
  }
}

private func streamName(_ shard: Int) -> String { "WHITEBOARD-\(shard)" }

private func bytes(of message: OpaquePointer?) -> [UInt8] {
  let count = Int(natsMsg_GetDataLength(message))
  guard count > 0, let data = natsMsg_GetData(message) else { return [] }
  return Array(UnsafeRawBufferPointer(start: data, count: count))
}

private func sharedValue(of entry: OpaquePointer) -> ClusterValue {
  let count = Int(kvEntry_ValueLen(entry))
  let data = kvEntry_Value(entry)
  return ClusterValue(
    count > 0 ? Array(UnsafeRawBufferPointer(start: data, count: count)) : [],
    revision: kvEntry_Revision(entry)
  )
}

extension ClusterSubject {
  fileprivate var live: String { "wb.live.\(text)" }
  fileprivate var stored: String { "wb.log.\(shard).\(text)" }
}

extension Duration {
  fileprivate var milliseconds: Int64 { max(1, Int64(self / .milliseconds(1))) }
}

/// What the callbacks of libnats need, which run on its threads.
private final class NATSEvents: Sendable {
  private struct State {
    var feeds: [ObjectIdentifier: ClusterFeed.Source] = [:]
    var refusal: String?
  }

  private let state = NIOLockedValueBox(State())

  /// The last operation that the servers refused, because the permissions of the user do not allow it.
  var refusal: String? { state.withLockedValue(\.refusal) }

  func insert(_ source: ClusterFeed.Source) { state.withLockedValue { $0.feeds[ObjectIdentifier(source)] = source } }

  func remove(_ source: ClusterFeed.Source) {
    _ = state.withLockedValue { $0.feeds.removeValue(forKey: ObjectIdentifier(source)) }
  }

  func reconnected() { for source in sources { source.writeGap() } }

  func endAll() { for source in sources { source.end() } }

  func failed(_ error: String) {
    guard error.contains("Permissions Violation") else { return }
    state.withLockedValue { $0.refusal = error }
  }

  private var sources: [ClusterFeed.Source] { state.withLockedValue { Array($0.feeds.values) } }
}

extension ClusterFeed.Source {
  /// The pointer is used only to end a subscription, once.
  private struct Subscription: @unchecked Sendable { var pointer: OpaquePointer? }

  /// Subscribes to a subject. The subscription ends with the feed.
  fileprivate static func subscribed(_ connection: OpaquePointer, to subject: String, _ events: NATSEvents)
    throws(ClusterError) -> ClusterFeed.Source
  {
    let subscription = NIOLockedValueBox(Subscription())
    let source = ClusterFeed.Source { source in
      events.remove(source)
      natsSubscription_Destroy(subscription.withLockedValue { $0.pointer })
    }
    // The subscription owns a reference until libnats has called the last callback.
    let closure = Unmanaged.passRetained(source)
    var pointer: OpaquePointer?
    let status = natsConnection_Subscribe(
      &pointer,
      connection,
      subject,
      { _, _, message, closure in
        defer { natsMsg_Destroy(message) }
        guard let closure, let message else { return }
        let reply = natsMsg_GetReply(message).map { String(cString: $0) }
        Unmanaged<ClusterFeed.Source>.fromOpaque(closure).takeUnretainedValue().write(
          ClusterMessage(bytes(of: message), replyAddress: reply)
        )
      },
      closure.toOpaque()
    )
    guard status == NATS_OK else {
      closure.release()
      throw ClusterError(status, "subscribe to messages")
    }
    natsSubscription_SetOnCompleteCB(
      pointer,
      { closure in if let closure { Unmanaged<ClusterFeed.Source>.fromOpaque(closure).release() } },
      closure.toOpaque()
    )
    subscription.withLockedValue { $0.pointer = pointer }
    events.insert(source)
    return source
  }
}

/// The objects of libnats, whose functions may be called from any thread.
private final class NATSHandle: @unchecked Sendable {
  let connection: OpaquePointer
  let jetStream: OpaquePointer

  /// Connects, and checks that the servers have JetStream. Blocks.
  init(_ settings: ClusterSettings, _ events: NATSEvents) throws(ClusterError) {
    var options: OpaquePointer?
    natsOptions_Create(&options)
    defer { natsOptions_Destroy(options) }
    try Self.apply(settings, to: options)
    let closure = Unmanaged.passRetained(events)
    Self.report(to: closure.toOpaque(), options)
    var connection: OpaquePointer?
    let status = natsConnection_Connect(&connection, options)
    guard status == NATS_OK, let connection else {
      closure.release()
      let error = ClusterError(status, "connect to the cluster")
      // With TLS 1.3, a server refuses a certificate by closing the connection after the handshake.
      guard error.code == .unavailable else { throw error }
      throw settings.usesTLS
        ? ClusterError(
          .unauthorized,
          "cannot connect to the cluster: the NATS servers closed the connection; check that their authority signed "
            + "cluster-certificate",
          details: error.details
        )
        : ClusterError(NATS_NO_SERVER, "connect to the cluster", details: error.details)
    }
    do throws(ClusterError) {
      jetStream = try Self.jetStream(of: connection)
      self.connection = connection
    } catch {
      natsConnection_Destroy(connection)
      throw error
    }
  }

  deinit {
    jsCtx_Destroy(jetStream)
    natsConnection_Destroy(connection)
  }

  static func apply(_ settings: ClusterSettings, to options: OpaquePointer?) throws(ClusterError) {
    func require(_ status: natsStatus, _ problem: String) throws(ClusterError) {
      guard status != NATS_OK else { return }
      throw ClusterError(.badConfiguration, problem, details: ClusterError.words(status))
    }
    for (setting, file) in settings.files where access(file, R_OK) != 0 {
      let reason = errno == ENOENT ? "does not exist" : "cannot be read: \(String(cString: strerror(errno)))"
      throw ClusterError(.badConfiguration, "the file \(file) in \(setting) \(reason)")
    }
    var servers = settings.servers.map { UnsafePointer(strdup($0)) }
    defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
    try require(
      natsOptions_SetServers(options, &servers, Int32(servers.count)),
      "an address in cluster is invalid; use nats://HOST:PORT or tls://HOST:PORT"
    )
    try require(natsOptions_SetName(options, settings.name), "NATS does not allow the name of this relay")
    natsOptions_SetNoEcho(options, true)
    natsOptions_SetTimeout(options, 2_000)
    natsOptions_SetMaxReconnect(options, -1)
    natsOptions_SetReconnectWait(options, 250)
    natsOptions_SetPingInterval(options, 2_000)
    natsOptions_SetMaxPingsOut(options, 2)
    // Otherwise, each feed would have a thread.
    natsOptions_UseGlobalMessageDelivery(options, true)
    if let file = settings.credentials {
      try require(
        natsOptions_SetUserCredentialsFromFiles(options, file, nil),
        "the file \(file) in cluster-credentials is invalid"
      )
    }
    if let file = settings.authorities {
      try require(
        natsOptions_LoadCATrustedCertificates(options, file),
        "the file \(file) in cluster-ca contains no certificates"
      )
    }
    if let (chain, key) = settings.certificate {
      try require(
        natsOptions_LoadCertificatesChain(options, chain, key),
        "the files \(chain) in cluster-certificate and \(key) in cluster-key are not a certificate and its key"
      )
    }
    // libnats ignores the scheme.
    if settings.usesTLS { natsOptions_SetSecure(options, true) }
  }

  private static func report(to closure: UnsafeMutableRawPointer, _ options: OpaquePointer?) {
    natsOptions_SetReconnectedCB(
      options,
      { _, closure in
        if let closure { Unmanaged<NATSEvents>.fromOpaque(closure).takeUnretainedValue().reconnected() }
      },
      closure
    )
    // Without this callback, libnats writes errors to standard error.
    natsOptions_SetErrorHandler(
      options,
      { connection, _, _, closure in
        var text: UnsafePointer<CChar>?
        natsConnection_GetLastError(connection, &text)
        guard let closure, let text else { return }
        Unmanaged<NATSEvents>.fromOpaque(closure).takeUnretainedValue().failed(String(cString: text))
      },
      closure
    )
    // This is the last callback of a connection.
    natsOptions_SetClosedCB(
      options,
      { _, closure in if let closure { Unmanaged<NATSEvents>.fromOpaque(closure).release() } },
      closure
    )
  }

  private static func jetStream(of connection: OpaquePointer) throws(ClusterError) -> OpaquePointer {
    guard natsConnection_HasHeaderSupport(connection) == NATS_OK else {
      throw ClusterError(.unsupported, "the NATS servers are too old; the cluster needs version 2.9 or later")
    }
    var (context, code): (OpaquePointer?, jsErrCode) = (nil, jsErrCode(0))
    var account: UnsafeMutablePointer<jsAccountInfo>?
    let made = natsConnection_JetStream(&context, connection, nil)
    guard made == NATS_OK, let context else { throw ClusterError(made, "use JetStream") }
    let status = js_GetAccountInfo(&account, context, nil, &code)
    jsAccountInfo_Destroy(account)
    guard status == NATS_OK else {
      let error = ClusterError(status, "use JetStream", code)
      jsCtx_Destroy(context)
      guard status == NATS_NO_RESPONDERS else { throw error }
      throw ClusterError(NATS_ERR, "use JetStream", JSNotEnabledErr, details: error.details)
    }
    return context
  }
}

extension ClusterSettings {
  fileprivate var files: [(setting: String, path: String)] {
    [
      ("cluster-credentials", credentials), ("cluster-ca", authorities), ("cluster-certificate", certificate?.chain),
      ("cluster-key", certificate?.key),
    ].compactMap { setting, path in path.map { (setting, $0) } }
  }

  fileprivate var usesTLS: Bool {
    authorities != nil || certificate != nil || servers.contains { $0.hasPrefix("tls://") }
  }
}

extension ClusterError {
  /// Call this function on the thread of the failed call, because libnats stores the details of errors per thread.
  fileprivate init(
    _ status: natsStatus,
    _ action: String,
    _ code: jsErrCode = jsErrCode(0),
    details: String? = nil
  ) {
    let (problem, sentence): (Code, String) =
      switch (status, code) {
      // libnats then also sets the code for missing JetStream, but a stream may only lack a leader.
      case (NATS_NO_RESPONDERS, _): (.unavailable, Self.noAnswer)
      case (_, JSNotEnabledErr), (_, JSNotEnabledForAccountErr):
        (
          .noJetStream,
          "the NATS servers have no JetStream; add `jetstream` to the configuration of each server, and allow it for "
            + "the account of this relay"
        )
      case (_, JSStreamReplicasNotSupportedErr), (_, JSClusterNoPeersErr):
        (.noJetStream, "there are not enough NATS servers; start at least three that form a cluster with JetStream")
      case (NATS_CONNECTION_AUTH_FAILED, _), (NATS_NOT_PERMITTED, _):
        (
          .unauthorized,
          "the NATS servers do not accept this relay; check cluster-credentials, or cluster-certificate and cluster-key"
        )
      case (NATS_SECURE_CONNECTION_REQUIRED, _):
        (.unauthorized, "the NATS servers require TLS; use tls:// in cluster")
      case (NATS_SECURE_CONNECTION_WANTED, _):
        (.unauthorized, "the NATS servers do not use TLS; add `tls` to the configuration of each server")
      case (NATS_SSL_ERROR, _):
        (
          .unauthorized,
          "no secure connection is possible; check that cluster-ca contains the authority of the NATS servers, that "
            + "their certificates contain the host names in cluster and have not expired, and that their authority "
            + "signed cluster-certificate"
        )
      case (NATS_NO_SERVER, _):
        (.unreachable, "no NATS server can be reached; check that the servers run, and their addresses in cluster")
      case (NATS_MAX_PAYLOAD, _): (.tooLarge, "the message is larger than the NATS servers allow")
      case (NATS_CONNECTION_CLOSED, _), (NATS_DRAINING, _): (.closed, "the connection to the NATS servers is closed")
      case (NATS_ADDRESS_MISSING, _), (NATS_INVALID_ARG, _):
        (.badConfiguration, "an address in cluster is invalid; use nats://HOST:PORT or tls://HOST:PORT")
      default: (.unavailable, Self.noAnswer)
      }
    self.init(problem, "cannot \(action): \(sentence)", details: details ?? Self.words(status))
  }

  private static let noAnswer = "the NATS servers do not answer; the relay tries again"

  fileprivate static func words(_ status: natsStatus) -> String {
    var last = NATS_OK
    let details = nats_GetLastError(&last).map { String(cString: $0) } ?? ""
    return last == status && !details.isEmpty ? details : String(cString: natsStatus_GetText(status))
  }
}
#endif
