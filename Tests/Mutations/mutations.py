"""The mutations: each is one bug that could be made in a change, and the checks that must detect it.

`old` must fit exactly once in its file. If it contains «…», only the part between these marks is replaced by `new`. An
expression becomes `(mutant(…) ? new : old)`, and statements become `if mutant(…) { new } else { old }`. Statements must
not declare what later statements use.

A check is a suite of unit tests as `Target.Suite`, one of its tests as `Target.Suite/function`, an interoperability
test as `interop:module.Class.test`, or one of the kinds of worlds: `worlds` (of boards), `replicas` (of replicas with
their protocol) and `owned` (of replicas on a board that one of them owns). The checks are tried in order until one
detects the bug, those of `Tests/run` first.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    checks: tuple
    is_expression: bool


def expression(name, file, old, new, *checks):
    return Mutation(name, "Sources/" + file, old, new, checks, True)


def statements(name, file, old, new, *checks):
    return Mutation(name, "Sources/" + file, old, new, checks, False)


MUTATIONS = [
    # PeerCore
    expression(
        "base32-with-spare-bits", "Network/PeerCore/Base32.swift",
        "accumulator & ((1 << bits) - 1) == 0", "true",
        "PeerSessionTests.IdentifierTests", "PeerSessionTests.WordListTests",
    ),
    expression(
        "invisible-characters-are-shown", "Network/PeerCore/UntrustedText.swift",
        "} else if scalar.isSafe, «!isInvisible» {", "true",
        "PeerCoreTests.UntrustedTextTests", "PeerCoreTests.InvisibleTextTests",
    ),
    expression(
        "json-one-level-too-deep", "Network/PeerCore/JSON/JSONReader.swift",
        "depth < depthLimit", "depth <= depthLimit",
        "WhiteboardSyncTests.ResourceDTOTests", "WhiteboardRenderingTests.BoardJSONTests",
    ),
    expression(
        "path-like-an-option-is-not-quoted", "Network/PeerCore/Hosted/ShellWord.swift",
        "if isPlain && !path.isEmpty && «!path.hasPrefix(\"-\")» {", "true",
        "PeerSessionTests.PeerIdentityTests",
    ),
    # PeerWire
    expression(
        "replay-window-one-too-wide", "Network/PeerWire/ReplayWindow.swift",
        "greatest - counter < Self.size", "greatest - counter <= Self.size",
        "PeerWireTests.ReplayWindowTests",
    ),
    expression(
        "last-piece-beyond-the-limit", "Network/PeerWire/DatagramContent.swift",
        "min(Limits.datagramPiece, limit - before)", "Limits.datagramPiece",
        "PeerWireTests.DatagramContentTests", "PeerWireTests.DatagramAssemblerTests",
    ),
    expression(
        "message-ends-early", "Network/PeerWire/MessageAssembler.swift",
        "message.count == message.total", "message.count <= message.total",
        "PeerWireTests.MessageAssemblerTests",
    ),
    statements(
        "unfinished-datagrams-pile-up", "Network/PeerWire/DatagramAssembler.swift",
        "if unfinished.count == Self.capacity { unfinished.removeFirst() }", "",
        "PeerWireTests.DatagramAssemblerTests",
    ),
    expression(
        "json-repeated-key-passes", "Network/PeerCore/JSON/JSONReader.swift",
        "!isStrict || «keys.insert(Array(key.utf8)).inserted»", "true",
        "PeerWireTests.JSONReaderTests",
    ),
    # PeerDiscovery and AvahiDiscovery
    expression(
        "own-announcement-is-a-peer", "Network/PeerDiscovery/PeerTable.swift",
        "guard «announcement.peer != own», endpoint.port != 0", "true",
        "PeerDiscoveryTests.PeerTableTests",
    ),
    expression(
        "a-flood-evicts-the-others", "Network/PeerDiscovery/PeerTable.swift",
        "left.heard < right.heard : «sizes.0 > sizes.1»", "sizes.0 < sizes.1",
        "PeerDiscoveryTests.PeerTableTests",
    ),
    expression(
        "addresses-of-an-earlier-run", "Network/PeerDiscovery/PeerTable.swift",
        "$0.announcement.incarnation == newest.announcement.incarnation", "true",
        "PeerDiscoveryTests.PeerTableTests",
    ),
    expression(
        "announcement-longer-than-a-packet", "Network/PeerDiscovery/DiscoveryInfo.swift",
        "wireSize + pair.wireSize <= Self.maximumSize", "wireSize <= Self.maximumSize",
        "PeerDiscoveryTests.DiscoveryInfoTests",
    ),
    statements(
        "service-that-left-stays", "Network/AvahiDiscovery/BrowserDriver.swift",
        "waiting.remove(key)\n      stopResolving(key)\n      «table.removed(key)»", "",
        "AvahiDiscoveryTests.AvahiDiscoveryTests/keepsContract",
    ),
    # PeerSession
    expression(
        "ticket-of-a-removed-member", "Network/PeerSession/Admission/Ticket.swift",
        "guard «!isRemoved(signature.admitter)» else", "true",
        "PeerSessionTests.TicketTests",
    ),
    expression(
        "one-wrong-code-too-many", "Network/PeerSession/Admission/AttemptLimiter.swift",
        "record.wrong.count >= Limits.wrongProofs", "record.wrong.count > Limits.wrongProofs",
        "PeerSessionTests.AttemptLimiterTests",
    ),
    expression(
        "code-proof-with-swapped-peers", "Network/PeerSession/Admission/CodeProof.swift",
        "+ session.bytes + «dialler.bytes + listener.bytes»", "listener.bytes + dialler.bytes",
        "PeerSessionTests.CodeProofTests",
    ),
    expression(
        "networks-evict-each-other", "Network/PeerSession/Admission/InvitationQueue.swift",
        "own + 1 < most", "own < most",
        "PeerSessionTests.FairPlacesTests",
    ),
    expression(
        "removal-signed-by-anyone", "Network/PeerSession/Membership/KickSignature.swift",
        "«host».hasSigned(signed, bytes, key: key)", "PeerID(spki: key)",
        "PeerSessionTests.RemovalTests", "PeerSessionTests.RemovalSessionTests/forged",
    ),
    expression(
        "guest-admits-others", "Network/PeerSession/Membership/Membership.swift",
        "!isRemoved(peer) && «!isGuest(peer)» && (peer == host", "true",
        "PeerSessionTests.GuestMembershipTests",
    ),
    statements(
        "removed-member-is-proved", "Network/PeerSession/Membership/Membership.swift",
        "if isRemoved(peer) || isGuest(peer) { return false }", "",
        "PeerSessionTests.RemovalTests", "PeerSessionTests.GuestMembershipTests",
    ),
    expression(
        "relay-grant-by-anyone", "Network/PeerSession/Relay/RelayedPeers.swift",
        "«host».hasSigned(Self.signedBytes", "PeerID(spki: key)",
        "PeerSessionTests.HostileRelayTests/forgedGrant",
    ),
    expression(
        "datagram-opened-twice", "Network/PeerSession/Datagrams/DatagramOpener.swift",
        "guard «current.window.take(header.counter)» else { throw .replay }", "true",
        "PeerSessionTests.DatagramSealingTests",
    ),
    expression(
        "relay-rate-without-a-limit-on-saving", "Network/PeerSession/Relay/RelayLimits.swift",
        "min(Double(rate.bytes) * Self.burst, bytes + elapsed * Double(rate.bytes))",
        "bytes + elapsed * Double(rate.bytes)",
        "PeerSessionTests.RateLimiterTests",
    ),
    expression(
        "route-number-reused-at-once", "Network/PeerSession/Relay/RouteTable.swift",
        "peers[$0] == nil && !unanswered.contains($0)", "peers[$0] == nil",
        "PeerSessionTests.RouteTableTests",
    ),
    expression(
        "file-with-a-wrong-hash-is-delivered", "Network/PeerSession/Transfers/Resources/ResourceReceiver.swift",
        "writes.hash.text == sha256", "true",
        "PeerSessionTests.HostileBulkTests/wrongHash",
    ),
    expression(
        "senders-wait-for-a-lost-peer", "Network/PeerSession/Delivery/Outbox.swift",
        "Array(state.roomWaiters) + state.acknowledgementWaiters", "Array(state.roomWaiters)",
        "PeerSessionTests.DeliveryTests",
    ),
    # Whiteboard
    expression(
        "no-tie-break", "Board/Whiteboard/Replication/Cell.swift",
        "if dot != other.dot { return «dot > other.dot» }", "true",
        "worlds",
    ),
    expression(
        "no-value-tie-break", "Board/Whiteboard/Replication/Cell.swift",
        "other.value.precedes(value)", "other.value == value",
        "WhiteboardSyncTests.BoardVectorTests", "worlds",
    ),
    expression(
        "gap-in-version-vector", "Board/Whiteboard/Replication/BoardState.swift",
        "context.insert(«sequences», of: batch.author)", "1...sequences.upperBound",
        "worlds",
    ),
    expression(
        "dropped-orphans", "Board/Whiteboard/Replication/BoardState.swift",
        "if «!lacking.isEmpty» { difference.entries.append(", "!lacking.isEmpty && !objects.orphans.contains(id)",
        "worlds",
    ),
    expression(
        "resurrection", "Board/Whiteboard/Replication/BoardState.swift",
        "if known == nil, «context.contains(id.dot) || isRetired(id.dot.incarnation)» {", "context.isEmpty",
        "worlds",
    ),
    expression(
        "ignored-living-set", "Board/Whiteboard/Replication/BoardState.swift",
        "«difference.context.contains($0.dot)» && !difference.living.contains($0.dot)", "difference.context.isEmpty",
        "worlds",
    ),
    expression(
        "partial-answer", "Board/Whiteboard/Replication/BoardState.swift",
        "for entry in «difference.entries» {\n      guard objects.index(of: entry.object",
        "Array(difference.entries.dropLast())",
        "worlds",
    ),
    statements(
        "purge-forgets-the-id", "Board/Whiteboard/Replication/BoardState.swift",
        "purged.insert(operation.object.dot)",
        "if operation.object.dot.sequence == 0 { purged.insert(operation.object.dot) }",
        "worlds",
    ),
    expression(
        "ring-of-groups-not-cut", "Board/Whiteboard/Replication/BoardState.swift",
        "return Array(path.dropFirst().prefix(«cut»))", "start + cells.count - cut",
        "WhiteboardSyncTests.BoardVectorReadingTests", "worlds",
    ),
    expression(
        "revoked-cells-of-answers-count", "Board/Whiteboard/Replication/BoardState.swift",
        "let difference = «counted(of: difference)»", "difference",
        "WhiteboardSyncTests.RolesTests",
    ),
    expression(
        "no-cell-bump", "Board/Whiteboard/Replication/HybridClock.swift",
        "base = max(base, «floor.rawValue + 1»)", "UInt64(floor.counter)",
        "worlds",
    ),
    expression(
        "far-time-drives-the-gesture", "Board/Whiteboard/Replication/HybridClock.swift",
        "for case let floor? in floors where «floor.rawValue < limit» {", "true",
        "worlds",
    ),
    statements(
        "clock-set-right-stays-ahead", "Board/Whiteboard/Replication/HybridClock.swift",
        "if last > limit { «last = 0» }", "last += 1",
        "worlds",
    ),
    expression(
        "far-times-drive-each-other", "Board/Whiteboard/Replication/HybridClock.swift",
        "high - low <= BoardLimits.drift << 16", "high >= low",
        "worlds",
    ),
    expression(
        "change-of-a-group-not-told", "Board/Whiteboard/Replication/ChangeLog.swift",
        "guard «!others.isEmpty» else { return result }", "!others.isEmpty && !result.isEmpty",
        "WhiteboardTests.GroupTests", "replicas",
    ),
    expression(
        "line-that-followed-not-told", "Board/Whiteboard/Replication/ChangeLog.swift",
        "entries.lazy.filter { «$0.content || $0.wasVisible != nil» }", "$0.content && $0.wasVisible != nil",
        "WhiteboardTests.FormTests",
    ),
    expression(
        "bound-end-at-the-anchor", "Board/Whiteboard/Objects/Binding.swift",
        "guard «!binding.isExact» else { return place }", "binding.isExact",
        "WhiteboardTests.FormTests",
    ),
    expression(
        "labels-are-not-restored", "Board/Whiteboard/Undo/RestorePlan.swift",
        "if «old.hasText» { try changeText", "old.kind == .text",
        "WhiteboardTests.RestoreTests", "WhiteboardTests.FormTests",
    ),
    expression(
        "ranges-that-touch-are-not-joined", "Board/Whiteboard/Replication/DotSet.swift",
        "if let last = merged.last, «next.lowerBound <= last.upperBound + 1» {",
        "next.lowerBound <= last.upperBound",
        "WhiteboardTests.DotSetTests",
    ),
    expression(
        "chat-order-by-clock", "Board/Whiteboard/Board/Frontier.swift",
        "$0.canBeFollowed ? $0 : nil", "$0.canBeFollowed ? nil : $0",
        "worlds",
    ),
    expression(
        "latest-setting-loses", "Board/Whiteboard/Board/BoardSettings.swift",
        "flatMap { «cells[$0].legal.last?.cell» }", "cells[$0].legal.elements.first?.cell",
        "WhiteboardTests.SettingsIndexTests", "worlds",
    ),
    statements(
        "selections-are-never-given-back", "Board/Whiteboard/Board/SelectionLeases.swift",
        "for lease in rest where now >= lease.restEnd { didRemove(lease.member) }", "",
        "WhiteboardTests.SelectionLeaseTests",
    ),
    expression(
        "author-has-more-than-its-share", "Board/Whiteboard/Board/AuthorShares.swift",
        "sum.isWithin(isAlone ? .whole : .share,", "sum.isWithin(.whole,",
        "WhiteboardTests.AuthorSharesTests",
    ),
    expression(
        "undo-of-what-others-wrote", "Board/Whiteboard/Undo/UndoPlan.swift",
        "guard «standing == from.standing» else {", "!(from.standing == .absent && to.standing == .absent)",
        "WhiteboardTests.UndoPlanTests", "worlds",
    ),
    expression(
        "wordle-yellow-without-counts", "Board/Whiteboard/Games/Wordle.swift",
        "left[letter] = «count - 1»", "count",
        "WhiteboardTests.WordleTests",
    ),
    expression(
        "no-falling-diagonal-in-connect-four", "Board/Whiteboard/Games/ConnectFour.swift",
        "[(1, 0), (0, 1), (1, 1), (1, -1)]", "[(1, 0), (0, 1), (1, 1)]",
        "WhiteboardTests.ConnectFourTests",
    ),
    expression(
        "object-settles-in-the-rearmost-frame", "Board/Whiteboard/Objects/References.swift",
        "let frames = «state.frames.reversed()».compactMap", "state.frames",
        "WhiteboardTests.FrameTests",
    ),
    expression(
        "vote-outlasts-a-slow-clock", "Board/Whiteboard/Objects/References.swift",
        ".bytes([isGiven ? 1 : 0] + reaction), after: «latest?.time»", "nil",
        "WhiteboardTests.FrameTests",
    ),
    expression(
        "link-hides-its-host", "Board/Whiteboard/Objects/References.swift",
        "guard «!host.contains(UInt8(ascii: \"@\"))» else", "true",
        "WhiteboardTests.FrameTests",
    ),
    expression(
        "any-chat-line-is-settled", "Board/Whiteboard/Objects/References.swift",
        "chatLine(line)?.about != nil", "chatLine(line) != nil",
        "WhiteboardTests.FrameTests",
    ),
    expression(
        "copied-line-is-exact-at-both-ends", "Board/Whiteboard/Board/Board.swift",
        "at: binding.anchor, isExact: «binding.isExact»", "true",
        "WhiteboardTests.FormTests", "WhiteboardTests.DuplicatingTests",
    ),
    expression(
        "name-of-a-frame-is-inside-it", "Board/Whiteboard/Objects/DrawingForm.swift",
        "hasPoints || self == .frame", "hasPoints",
        "WhiteboardTests.FormTests", "WhiteboardTests.FrameTests",
    ),
    # WhiteboardSync
    expression(
        "reused-incarnation", "Board/WhiteboardSync/Authorship/Author.swift",
        "let bits = «random()»", "UInt64(records.count)",
        "replicas",
    ),
    expression(
        "floor-of-the-context", "Board/WhiteboardSync/CatchUp/RequestQueue.swift",
        "request.context.isSuperset(of: board.state.context)",
        # The replica has no log from which it could fill a gap. With this mutation, it would decide that nothing is
        # lacking.
        "board.state.context.incarnations.allSatisfy({ author in\n"
        "        board.state.context[author].ranges.last?.upperBound ?? 0\n"
        "          <= request.context[author].ranges.last?.upperBound ?? 0\n"
        "      })",
        "WhiteboardSyncTests.ConvergenceTests", "replicas",
    ),
    expression(
        "claims-of-the-revoked-stay", "Board/WhiteboardSync/CatchUp/RequestQueue.swift",
        "!containsRevokedChanges(request.context)", "true",
        "WhiteboardSyncTests.RolesTests",
    ),
    expression(
        "digest-ignores-a-cell", "Board/WhiteboardSync/Digest/BoardDigest.swift",
        "«!entry.property.isSelection» {\n      let (property, cell)", "!entry.property.isSelection && entry.property != .color",
        "worlds",
    ),
    expression(
        "sums-ignore-a-property", "Board/WhiteboardSync/Digest/BoardDigest.swift",
        "«!entry.property.isSelection» {\n          sum", "!entry.property.isSelection && entry.property != .zIndex",
        "worlds",
    ),
    statements(
        "sums-ignore-the-value", "Board/WhiteboardSync/Digest/BoardDigest.swift",
        "hash.combine(cell.value)", "",
        "worlds",
    ),
    expression(
        "repair-does-not-compare", "Board/WhiteboardSync/Replica/MessageHandler+Answers.swift",
        "try replica.board.receive(difference, comparesAll: «merging.comparesAll», replacing", "false",
        "WhiteboardSyncTests.DivergenceCheckTests", "replicas",
    ),
    statements(
        "answer-merged-unchecked", "Board/WhiteboardSync/Replica/MessageHandler+Answers.swift",
        "try answer.verify(by: record, with: replica.verifier)", "_ = answer",
        "WhiteboardSyncTests.AnswerTests", "replicas",
    ),
    expression(
        "record-signature-unchecked", "Board/WhiteboardSync/Authorship/AuthorRecord.swift",
        "verifier.isValid(signature, of: Self.domain + signed, by: key)", "verifier.isKey(key) && !signed.isEmpty",
        "WhiteboardSyncTests.AuthorRecordTests", "replicas",
    ),
    expression(
        "record-of-another-board", "Board/WhiteboardSync/Authorship/AuthorRecord.swift",
        "guard «self.board == board» else { throw .wrongBoard }", "true",
        "WhiteboardSyncTests.AuthorRecordTests", "replicas",
    ),
    expression(
        "head-signature-unchecked", "Board/WhiteboardSync/Authorship/AuthorRecord.swift",
        "verifier.isValid(signature, of: Self.text(of: chain, on: record.board), by: record.key)",
        "verifier.isKey(record.key)",
        "WhiteboardSyncTests.AuthorshipTests", "replicas",
    ),
    expression(
        "head-not-of-the-chain", "Board/WhiteboardSync/Signing/VerificationRequest.swift",
        "head.sequence == chain.sequence, «head.hash == chain.hash»", "true",
        "WhiteboardSyncTests.LinkChainVerifierTests", "replicas",
    ),
    expression(
        "gap-between-batches", "Board/WhiteboardSync/Signing/VerificationRequest.swift",
        "guard «known == next» else", "known.sequence <= next.sequence",
        "WhiteboardSyncTests.LinkChainVerifierTests", "replicas",
    ),
    expression(
        "viewer-writes", "Board/WhiteboardSync/Signing/VerificationRequest.swift",
        "guard «role.mayWrite» else { throw .viewer }", "true",
        "WhiteboardSyncTests.RolesTests", "replicas",
    ),
    expression(
        "author-of-another-link", "Board/WhiteboardSync/Replica/MessageHandler.swift",
        "guard «record.member == member» else { throw .forgedAuthor }", "true",
        "WhiteboardSyncTests.AuthorshipTests", "replicas",
    ),
    statements(
        "newcomers-hear-of-no-revocation", "Board/WhiteboardSync/Replica/Replica.swift",
        "permissions.sendRevocations(to: member, now)", "",
        "WhiteboardSyncTests.RolesTests", "owned",
    ),
    statements(
        "revocations-are-not-passed-on", "Board/WhiteboardSync/Permissions/Permissions.swift",
        "actions.queue(.revocation(revocation.bytes), to: peers.members.filter { $0 != member })",
        "if member == nil { actions.queue(.revocation(revocation.bytes), to: peers.members) }",
        "WhiteboardSyncTests.RolesTests", "owned",
    ),
    expression(
        "viewers-keep-what-they-alone-have", "Board/WhiteboardSync/Restore/RestoredBoard.swift",
        "role.mayWrite ? 0 : buckets", "0",
        "WhiteboardSyncTests.RolesTests", "owned",
    ),
    expression(
        "void-revocations-count", "Board/WhiteboardSync/Permissions/Revocation.swift",
        "if «!isVoid» {", "true",
        "WhiteboardSyncTests.OwnedBoardTests",
    ),
    expression(
        "too-many-photos-of-one-member", "Board/WhiteboardSync/Assets/AssetExchange.swift",
        "asked[$0, default: 0] < Self.parallelOfMember", "asked[$0, default: 0] <= Self.parallelOfMember",
        "WhiteboardSyncTests.AssetExchangeTests",
    ),
    statements(
        "preview-of-a-member-that-left", "Board/WhiteboardSync/Presence/StrokeSharing.swift",
        "for stroke in gone { tails[stroke] = nil }", "",
        "WhiteboardSyncTests.LiveStrokeTests",
    ),
    statements(
        "inbox-never-becomes-empty", "Board/WhiteboardSync/Replica/MemberLink.swift",
        "byteCount -= message.count + Self.overhead", "",
        "WhiteboardSyncTests.MemberInboxTests",
    ),
    expression(
        "retirement-by-anyone", "Board/WhiteboardSync/Permissions/Retirement.swift",
        "guard «isHost» else { throw .notOwner }", "true",
        "WhiteboardSyncTests.RetirementTests", "WhiteboardSyncTests.BoardVectorRetirementTests",
    ),
    # WhiteboardDocument
    expression(
        "log-row-out-of-its-chain", "Board/WhiteboardDocument/Storage/LogReader.swift",
        "found.row.id == next, «found.sum == found.row.sum(after: chain)»,", "true",
        "WhiteboardDocumentTests.DamageTests", "WhiteboardDocumentTests.BoardDocumentTests",
    ),
    expression(
        "named-versions-end-with-the-history", "Board/WhiteboardDocument/Storage/LogWriter.swift",
        "\"DELETE FROM keyframe WHERE name IS NULL AND log < ?\"", "\"DELETE FROM keyframe WHERE log < ?\"",
        "WhiteboardDocumentTests.RetentionTests",
    ),
    expression(
        "photo-that-is-damaged-is-read", "Board/WhiteboardDocument/Storage/StoredRows.swift",
        "guard «AssetHash.of(bytes) == sha256» else { throw DocumentError.damagedRow(", "true",
        "WhiteboardDocumentTests.DamageTests", "WhiteboardDocumentTests.BoardDocumentTests",
    ),
    statements(
        "earlier-head-replaces-a-later-one", "Board/WhiteboardDocument/Storage/LogWriter.swift",
        "if let known, !known.head.isEmpty, known.sequence >= sequence { return }", "",
        "WhiteboardDocumentTests.BoardDocumentTests",
    ),
    expression(
        "seal-of-another-board", "Board/WhiteboardDocument/Opening/DocumentSeal.swift",
        "[board, key.rawValue, value]", "[key.rawValue, value]",
        "WhiteboardDocumentTests.SealTests",
    ),
    expression(
        "lock-file-of-another-program-is-deleted", "Board/WhiteboardDocument/Opening/OpenFiles.swift",
        "isOurs = «ours.st_size == 0»", "true",
        "WhiteboardDocumentTests.OpenFilesTests", "WhiteboardDocumentTests.BoardDocumentTests",
    ),
    expression(
        "log-of-an-earlier-round-is-used", "Board/WhiteboardDocument/WriteAheadLog/WALFrames.swift",
        "page > 0 && «Array(head[8..<16]) == salts»", "true",
        "WhiteboardDocumentTests.WriteAheadLogTests", "WhiteboardDocumentTests.DamageTests",
    ),
    # WhiteboardRendering, WhiteboardPictures and QRCode
    expression(
        "svg-with-unescaped-words", "Board/WhiteboardRendering/Export/SVG/SVGPage.swift",
        "XML.escaped(words.text)", "words.text",
        "WhiteboardRenderingTests.SVGPageTests",
    ),
    expression(
        "decimals-rounded-down", "Board/WhiteboardRendering/Export/SVG/SVGPage.swift",
        "(min(max(value, -1e12), 1e12) * 100).rounded()", "(min(max(value, -1e12), 1e12) * 100).rounded(.down)",
        "WhiteboardRenderingTests.SVGPageTests", "WhiteboardRenderingTests.GoldenTests",
    ),
    expression(
        "cluster-of-another-screen-is-not-drawn", "Board/WhiteboardRendering/Cells/ScreenWriter.swift",
        "after.glyph.clusterIndex != nil && «old.text(of: before.glyph) != new.text(of: after.glyph)»", "false",
        "WhiteboardRenderingTests.ScreenWriterTests",
    ),
    expression(
        "averages-rounded-down", "Board/WhiteboardRendering/Scene/BoardCanvas+Photos.swift",
        "let half = «count / 2»", "0",
        "WhiteboardRenderingTests.BoxFilterTests",
    ),
    expression(
        "parts-of-strokes-left-out-next-to-a-change", "Board/WhiteboardRendering/Scene/BoardCanvas+Painting.swift",
        "let last = min(«first + Self.runLength», points.count - 1)", "first + Self.runLength / 2",
        "WhiteboardRenderingTests.BoardCanvasTests",
    ),
    expression(
        "copies-on-earlier-copies", "Board/Whiteboard/Board/Board.swift",
        "while «canMove», places.contains", "false",
        "WhiteboardTests.DuplicatingTests",
    ),
    expression(
        "stroke-behind-the-base-is-painted-on-it", "Board/WhiteboardRendering/Scene/BoardCanvas.swift",
        "base.map { «!isBehind(id, $0.first)» } ?? false", "!isBehind(id, $0.first) || true",
        "WhiteboardRenderingTests.BoardCanvasTests",
    ),
    statements(
        "base-without-the-changes-behind-it", "Board/WhiteboardRendering/Scene/BoardCanvas.swift",
        "if current.next == current.countInBase { base?.dots.copy(current.area, of: dots) }", "",
        "WhiteboardRenderingTests.BoardCanvasTests",
    ),
    expression(
        "growth-paints-over-forms-in-front", "Board/WhiteboardRendering/Scene/BoardCanvas.swift",
        "strokes.allSatisfy({ $0.0.shape == nil && $0.1.snapshot.kind == .drawing })", "true",
        "WhiteboardRenderingTests.BoardCanvasTests",
    ),
    expression(
        "box-moves-to-the-last-subgraph", "Board/WhiteboardRendering/Export/Mermaid/Flowchart.swift",
        "if «chart.nodes[index].frame == nil», chart.nodes[index].form != .frame {", "true",
        "WhiteboardRenderingTests.FlowchartTests",
    ),
    expression(
        "longer-arrow-is-not-longer", "Board/WhiteboardRendering/Export/Mermaid/Flowchart.swift",
        "edge.marks.end == .none ? max(count - 2, 1) : «count - 1»", "1",
        "WhiteboardRenderingTests.FlowchartTests",
    ),
    expression(
        "photo-turned-the-wrong-way", "Board/WhiteboardPictures/Photos/PhotoDecoder+JPEG.swift",
        "case .quarterTurn: «(y, height - 1 - x)»", "(width - 1 - y, x)",
        "WhiteboardPicturesTests.PhotoDecoderTests",
    ),
    expression(
        "qr-code-inverted-by-halves", "Kit/QRCode/QRSymbol.swift",
        "upper: «isDark(x, y) != isInverted»", "isDark(x, y)",
        "QRCodeTests.QRSymbolTests",
    ),
    # WhiteboardKit
    expression(
        "view-only-invitation-gives-an-editor", "Kit/WhiteboardKit/Permissions/Roles.swift",
        "label == Self.viewLabel ? nil : .editor", ".editor",
        "WhiteboardKitTests.OwnedBoardTests/codes",
    ),
    expression(
        "unproved-guest-gets-a-link", "Network/PeerSession/Guests/Session+Guests.swift",
        "key.isProof(proof, ofInvitationFor: role, binding: exporter.export(.binding))", "true",
        "interop:test_web.Invitations.test_web_58_requests_that_are_not_proved",
    ),
    expression(
        "proof-for-either-role", "Network/PeerSession/Guests/Session+Guests.swift",
        "HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: input, using: SymmetricKey(data: bytes.bytes))",
        "[\"editor\", \"viewer\"].contains { HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: "
        "Array(\"whiteboard-p2p web invite 1\\0\".utf8) + binding + Array($0.utf8), using: SymmetricKey(data: bytes.bytes)) }",
        "PeerSessionTests.WebProofTests", "interop:test_web.Invitations.test_web_59_the_roles_of_an_owned_board",
    ),
    expression(
        "viewers-link-with-another-end", "Kit/WhiteboardKit/Browsers/BrowserLinks.swift",
        "$0.isView && «$0.end == own.end»", "true",
        "interop:test_web.Invitations.test_web_59_the_roles_of_an_owned_board",
    ),
    expression(
        "one-link-too-many-in-a-minute", "Kit/WhiteboardKit/Browsers/BrowserAccess.swift",
        "requests.counts[request.guest, default: 0] <= «PageInvitation.maximumPerMinute»",
        "PageInvitation.maximumPerMinute + 1",
        "interop:test_web.Invitations.test_web_60_too_many_requests",
    ),
    statements(
        "missed-changes-are-not-told", "Kit/WhiteboardKit/Kit/ChangeReaders.swift",
        "missed += count", "",
        "WhiteboardKitTests.ChangeReadersTests",
    ),
    expression(
        "newcomer-gets-earlier-messages", "Kit/WhiteboardKit/Sending/SendQueue.swift",
        "if let entry = entries[peer], «entry.first <= number» {", "true",
        "WhiteboardKitTests.SendQueueTests",
    ),
    expression(
        "saved-is-said-too-early", "Kit/WhiteboardKit/Persistence/PersistenceQueue.swift",
        "return «recorded > stored || hasPendingPhotos» ? .saving : .saved", "hasPendingPhotos",
        "WhiteboardKitTests.PersistenceQueueTests",
    ),
    expression(
        "thumbnail-with-a-tail-is-ours", "Kit/WhiteboardKit/Boards/Thumbnail.swift",
        "return «rest.isEmpty»", "true",
        "WhiteboardKitTests.ThumbnailCheckingTests",
    ),
    statements(
        "delivered-messages-keep-their-room", "Kit/WhiteboardKit/Sending/MessageDeliveries.swift",
        "byteCount -= message.byteCount", "",
        "WhiteboardKitTests.MessageDeliveriesTests",
    ),
    # CommandLines
    expression(
        "longest-line-is-too-long", "Kit/CommandLines/InputOutput/LineReader.swift",
        "return «line.count > limit» ? .tooLong", "line.count >= limit",
        "CommandLinesTests.LineReaderTests",
    ),
    statements(
        "flush-waits-only-once", "Kit/CommandLines/InputOutput/LineWriter.swift",
        "while isWriting, failure == nil { await withCheckedContinuation { waiters.append($0) } }", "",
        "CommandLinesTests.LineWriterTests",
    ),
    # SessionReplay
    expression(
        "anonymous-recording-with-names", "Kit/SessionReplay/Recording+Anonymous.swift",
        "return «.text(\"person \\(number(of: Array(name.utf8)))\")»", ".text(name)",
        "SessionReplayTests.EditingTests",
    ),
    statements(
        "film-that-jumps-back-counts-twice", "Kit/SessionReplay/Playback.swift",
        "operations = state.operations", "",
        "SessionReplayTests.PlaybackTests",
    ),
    # WhiteboardTerminal
    expression(
        "paste-without-a-limit", "FrontEnds/WhiteboardTerminal/Input/InputParser.swift",
        "(pasted?.count ?? 0) < Self.pasteLimit", "true",
        "WhiteboardTerminalTests.InputParserTests",
    ),
    expression(
        "key-held-down-is-a-paste", "FrontEnds/WhiteboardTerminal/Input/InputParser.swift",
        "Set(letters).count > 1", "true",
        "WhiteboardTerminalTests.PasteRecognizerTests",
    ),
    expression(
        "queued-changes-in-reverse", "FrontEnds/WhiteboardTerminal/ChangeQueue.swift",
        "reports = «latest.reversed()»", "latest",
        "WhiteboardTerminalTests.ChangeQueueTests",
    ),
    expression(
        "deleting-moves-the-cursor", "FrontEnds/WhiteboardTerminal/Prompt/LineEditor.swift",
        "if «index < cursor» { cursor -= 1 }", "index <= cursor",
        "WhiteboardTerminalTests.PromptTests",
    ),
    # WhiteboardWeb
    expression(
        "post-of-another-page", "FrontEnds/WhiteboardWeb/Serving/WebServer.swift",
        "origins[0] == \"https://\\(hosts[0].lowercased())\"", "true",
        "WhiteboardWebTests.WebConnectionsTests", "WhiteboardWebTests.WebPageTests",
        "interop:test_web_requests.Requests.test_web_52_another_origin",
    ),
    expression(
        "one-connection-too-many", "FrontEnds/WhiteboardWeb/Serving/WebServer.swift",
        "{ $0 == address } >= Self.maximumPerAddress", "{ $0 == address } > Self.maximumPerAddress",
        "WhiteboardWebTests.WebConnectionsTests",
    ),
    # WhiteboardRelay
    expression(
        "board-named-by-one-letter", "FrontEnds/WhiteboardRelay/Boards/BoardRegister.swift",
        "meant.utf8.count < 4", "meant.utf8.count < 1",
        "WhiteboardRelayTests.BoardRegisterTests",
    ),
    expression(
        "counter-that-decreases", "FrontEnds/WhiteboardRelay/RelayMetrics.swift",
        "amount > 0", "amount != 0",
        "WhiteboardRelayTests.RelayMetricsTests",
    ),
    expression(
        "control-socket-for-everyone", "FrontEnds/WhiteboardRelay/Admin/ControlServer.swift",
        "fchmod(socket.descriptor, «0o600»)", "0o666",
        "WhiteboardRelayTests.ControlServerTests",
    ),
    # WhiteboardPrograms and WhiteboardDoctor
    expression(
        "secret-setting-is-shown", "FrontEnds/WhiteboardPrograms/SettingOptions.swift",
        "value = «entry.isSecret ? nil : choice.text»", "choice.text",
        "WhiteboardProgramsTests.SettingLineTests",
    ),
    expression(
        "narrow-rule-closes-the-port", "Kit/WhiteboardDoctor/FirewallRules.swift",
        "if «rule.isNarrow», rule.ports == nil", "false",
        "WhiteboardDoctorTests.FirewallRulesTests",
    ),
    # The programs
    statements(
        "members-admit-always", "Programs/whiteboard-peer/Options.swift",
        "configuration.membersAdmit = settings.value(.membersAdmit)", "",
        "interop:test_against_swift.Admitting.test_tck_6_only_the_host_admits_if_its_user_chose_so",
    ),
    statements(
        "reserved-boards-are-not-read", "Programs/whiteboard-relay/RelayOptions.swift",
        "flags[.reservedBoards] = reservedBoards", "",
        "interop:test_command_line.CommandLine.test_a_relay_checks_its_limits_for_strangers",
    ),
    expression(
        "recordings-that-differ-end-well", "Programs/whiteboard-replay/WhiteboardReplay.swift",
        "if «!changes.isEmpty» { throw ExitCode(1) }", "false",
        "interop:test_command_line.CommandLine.test_recordings_differ_in_words_or_in_json",
    ),
]
