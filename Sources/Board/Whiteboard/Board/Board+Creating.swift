extension Board {
  /// Creates a text object in front of all other objects.
  /// - Parameters:
  ///   - text: The text.
  ///   - place: The center, in board units; with automatic width, the upper left corner of the letters, from which the
  ///     text grows.
  ///   - color: The color as `0xRRGGBBAA`; nil for the default color.
  ///   - isAutoWidth: Whether the text is as wide as its longest paragraph. Otherwise it is wrapped.
  /// - Returns: The id of the text.
  /// - Throws: `outOfRange`, `tooLong`, `boardFull`.
  @discardableResult public func createText(
    _ text: String,
    at place: Point,
    color: UInt32? = nil,
    isAutoWidth: Bool = false
  ) throws(BoardError) -> ObjectID {
    let text = PlainText.lines(text)
    return try gesture { () throws(BoardError) in
      guard text.utf8.count <= BoardLimits.textBytes else { throw .tooLong("text") }
      let id = try create(.text)
      try stage(id, .position, try FixedPoint.position(place))
      try stageZIndex(id)
      if let color { try stage(id, .color, .unsigned(UInt64(color))) }
      if isAutoWidth { try stage(id, .autoWidth, .unsigned(1)) }
      try stageText(text, of: id)
      try settle([id])
      return id
    }
  }

  /// Begins a stroke in front of all other objects.
  ///
  /// Call `appendInk` and then `endDrawing` to complete the stroke.
  /// - Throws: `outOfRange`, `boardFull`.
  public func beginDrawing(lineWidth: Double = 5, color: UInt32? = nil) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      let id = try create(.drawing)
      try stageZIndex(id)
      try stage(id, .lineWidth, try FixedPoint.lineWidth(lineWidth))
      if let color { try stage(id, .color, .unsigned(UInt64(color))) }
      return id
    }
  }

  /// Commits more points of a stroke that this replica is drawing, in chunks of at most `BoardLimits.pointsPerChunk`.
  ///
  /// - Parameters:
  ///   - points: The points to add.
  ///   - id: The stroke.
  ///   - first: The number of points that are already committed.
  /// - Throws: `wrongKind`, `tooLong`, `unknownObject`, `boardFull`.
  public func appendInk(_ points: some RandomAccessCollection<InkPoint>, to id: ObjectID, first: Int) throws(BoardError)
  {
    try gesture { () throws(BoardError) in
      try requireOwnStroke(id)
      try stageInk(points, to: id, first: first)
    }
  }

  /// Finishes a stroke of `count` points that this replica is drawing.
  /// - Throws: `wrongKind`, `unknownObject`, `boardFull`.
  public func endDrawing(_ id: ObjectID, count: Int) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireOwnStroke(id)
      try stage(id, .end, .unsigned(UInt64(count)))
      try settle([id])
    }
  }

  /// Creates a complete stroke.
  /// - Throws: `empty`, `outOfRange`, `tooLong`, `boardFull`.
  @discardableResult public func createDrawing(_ points: [InkPoint], lineWidth: Double = 5, color: UInt32? = nil)
    throws(BoardError) -> ObjectID
  {
    try gesture { () throws(BoardError) in
      guard !points.isEmpty else { throw .empty }
      let id = try beginDrawing(lineWidth: lineWidth, color: color)
      try appendInk(points, to: id, first: 0)
      try endDrawing(id, count: points.count)
      return id
    }
  }

  /// Creates a form in front of all other objects.
  /// - Parameters:
  ///   - form: The form.
  ///   - center: The center of the form; for a line or arrow, the place to which its points are relative.
  ///   - size: The width and height; nil for the default size. Lines and arrows have no size of their own.
  ///   - points: The points of a line or arrow, at least two, relative to `center`; none for other forms.
  ///   - label: The text in the form, or at the middle of a line.
  ///   - lineWidth: The width of the line, in board units.
  ///   - color: The color of the line, `0xRRGGBBAA`; nil for the default color.
  ///   - style: The other properties of the form's appearance; nil for the default style of the form.
  ///   - start: The binding of the first point of a line or arrow.
  ///   - end: The binding of the last point of a line or arrow.
  /// - Returns: The id of the drawing.
  /// - Throws: `empty` if a line has no points; `outOfRange`, `tooLong`, `boardFull`.
  @discardableResult public func createForm(
    _ form: DrawingForm,
    at center: Point,
    size: Size? = nil,
    points: [Point] = [],
    label: String = "",
    lineWidth: Double = ObjectDefaults.formLineWidth,
    color: UInt32? = nil,
    style: ObjectStyle? = nil,
    from start: Binding? = nil,
    to end: Binding? = nil
  ) throws(BoardError) -> ObjectID {
    let label = PlainText.lines(label)
    return try gesture { () throws(BoardError) in
      guard label.utf8.count <= BoardLimits.textBytes else { throw .tooLong("text") }
      let id = try create(.drawing)
      try stage(id, .form, .unsigned(form.rawValue))
      try stage(id, .position, try FixedPoint.position(center))
      if form.hasPoints {
        guard points.count >= 2 else { throw .empty }
        try stagePoints(points, of: id)
      } else {
        let size = size ?? form.defaultSize
        guard size.width > 0, size.height > 0 else { throw .outOfRange("size") }
        try stage(id, .size, try FixedPoint.size(size))
      }
      try stageZIndex(id)
      try stage(id, .lineWidth, try FixedPoint.lineWidth(lineWidth))
      if let color { try stage(id, .color, .unsigned(UInt64(color))) }
      for cell in try style?.cells(of: form) ?? [] { try stage(id, cell.property, cell.value) }
      try stageText(label, of: id)
      if let start { try bind(.start, of: id, to: start) }
      if let end { try bind(.end, of: id, to: end) }
      if form == .frame { try adopt(id) } else { try settle([id]) }
      return id
    }
  }

  private func requireOwnStroke(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind == .drawing else { throw .unknownObject(id) }
    guard id.dot.incarnation == incarnation, !record.isFinished else { throw .wrongKind(id) }
  }

  /// Creates a photo in front of all other objects.
  ///
  /// The photo's bytes are transferred separately.
  ///
  /// If `size` is nil, the longest side of the photo is 200 board units, and its pixels are assumed to be upright.
  ///
  /// - Throws: `outOfRange`, `boardFull`.
  @discardableResult public func createPhoto(_ asset: AssetReference, at center: Point, size: Size? = nil)
    throws(BoardError) -> ObjectID
  {
    try gesture { () throws(BoardError) in
      let id = try create(.photo)
      try stage(id, .position, try FixedPoint.position(center))
      try stage(id, .size, try FixedPoint.size(size ?? asset.size(.upright)))
      try stageZIndex(id)
      try stage(id, .asset, asset.value)
      try settle([id])
      return id
    }
  }
}
