import FoundationEssentials
import PeerCore

private struct Nothing: Decodable {}

/// Checks that the decoder reads all JSON that passes the check, and that truncated JSON never passes.
func fuzzJSON(_ input: inout Input) {
  let cut = Int(input.short())
  let bytes = input.rest()
  switch fault(of: bytes) {
  case nil: break
  case .truncated?, .notAnObject?, .tooManyValues?: return
  case .trailingBytes(let at)?, .tooDeep(let at)?, .invalidUTF8(let at)?, .duplicateKey(let at)?,
    .malformedString(let at)?, .malformed(let at)?:
    insist(at >= 0 && at < bytes.count, "the offset is within the input")
    return
  }
  insist((try? JSONDecoder().decode(Nothing.self, from: Data(bytes))) != nil, "valid JSON decodes")
  guard let end = bytes.lastIndex(of: UInt8(ascii: "}")) else { preconditionFailure("valid JSON has a closing brace") }
  insist(fault(of: Array(bytes[..<(cut % (end + 1))])) == .truncated, "a part of an object is reported as truncated")
}

private func fault(of bytes: [UInt8]) -> JSONError? {
  do {
    try JSONReader.strict(bytes)
    return nil
  } catch { return error }
}
