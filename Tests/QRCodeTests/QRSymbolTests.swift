import QRCode
import Testing

@Suite struct QRSymbolTests {
  private let link =
    "whiteboard://192.168.1.20:26273/gp2s5x5aaaaaaaaaaaaaaaaaaa"
    + "?peer=st4ksrqdaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#borrow-good-adjust-boil"

  @Test("a symbol has three finders, a timing pattern and the dark module") func structure() throws {
    let symbol = try QRSymbol(link)
    #expect(symbol.size == 45)
    let finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]
    let far = symbol.size - 7
    for (left, top) in [(0, 0), (far, 0), (0, far)] {
      for (y, row) in finder.enumerated() {
        for (x, module) in row.enumerated() { #expect(symbol.isDark(left + x, top + y) == (module == "#")) }
      }
    }
    for position in 8..<symbol.size - 8 {
      #expect(symbol.isDark(position, 6) == position.isMultiple(of: 2))
      #expect(symbol.isDark(6, position) == position.isMultiple(of: 2))
    }
    #expect(symbol.isDark(8, symbol.size - 8))
    #expect(!symbol.isDark(-1, 0) && !symbol.isDark(0, symbol.size))
  }

  @Test("the text of a symbol shows every module, with a margin of two, in both polarities") func lines() throws {
    let symbol = try QRSymbol("whiteboard")
    #expect(symbol.size == 21)
    for isInverted in [false, true] {
      let lines = symbol.lines(isInverted: isInverted)
      #expect(lines.count == 13)
      for (row, line) in lines.enumerated() {
        #expect(line.count == 25)
        for (column, character) in line.enumerated() {
          let (x, y) = (column - 2, row * 2 - 2)
          #expect("▀█".contains(character) == (symbol.isDark(x, y) != isInverted))
          let isBelow = row == 12
          #expect("▄█".contains(character) == (!isBelow && symbol.isDark(x, y + 1) != isInverted))
        }
      }
    }
  }

  @Test("the SVG image of a symbol has a run for each row of dark modules, and a margin of four") func svg() throws {
    let symbol = try QRSymbol("whiteboard")
    let svg = symbol.svg
    #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-4 -4 29 29\""))
    #expect(svg.contains("M0 0h7v1h-7z") && svg.contains("M0 20h7v1h-7z"))
    var dark = 0
    for y in 0..<21 { for x in 0..<21 where symbol.isDark(x, y) { dark += 1 } }
    let widths = svg.split(separator: "M").dropFirst(2).compactMap { run in
      run.split(separator: "h").dropFirst().first.flatMap { Int($0.prefix { $0 != "v" }) }
    }
    #expect(widths.reduce(0, +) == dark)
  }

  @Test("data that cannot be encoded is rejected") func refused() throws {
    #expect(throws: QRCodeError.empty) { _ = try QRSymbol("") }
    #expect(throws: QRCodeError.tooLong(2_954)) { _ = try QRSymbol(String(repeating: "a", count: 2_954)) }
    #expect(try QRSymbol(String(repeating: "ä", count: 1_476)).size == 177)
  }
}
