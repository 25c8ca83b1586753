/// Codes or tokens, one row for each codebook and one column for each frame or position.
public struct CodeMatrix: Sendable, Hashable {
  public let rows: Int
  public let columns: Int
  /// [rows, columns], row-major.
  public let values: [Int32]

  /// Throws `.invalidArgument` when `values` is not made of `rows` whole rows.
  public init(rows: Int, values: [Int32]) throws(RemoraError) {
    guard rows > 0, values.count % rows == 0 else {
      throw RemoraError(
        .invalidArgument, "codes: \(values.count) values are not \(rows) rows of equal length")
    }
    self.rows = rows
    columns = values.count / rows
    self.values = values
  }

  /// From frames, as a session makes them: each becomes a column. Throws `.invalidArgument` when
  /// there is none or their lengths differ.
  public init(frames: [[Int32]]) throws(RemoraError) {
    guard let rows = frames.first?.count, rows > 0, frames.allSatisfy({ $0.count == rows }) else {
      throw RemoraError(
        .invalidArgument, "codes: the frames must be of one length, and at least one")
    }
    self.rows = rows
    columns = frames.count
    values = (0..<rows).flatMap { row in frames.map { $0[row] } }
  }

  /// One frame: the codes of a column.
  public func column(_ index: Int) -> [Int32] {
    (0..<rows).map { values[$0 * columns + index] }
  }

  /// The columns of a range, as a matrix.
  public func columns(_ range: Range<Int>) -> CodeMatrix {
    let part = (0..<rows).flatMap {
      values[($0 * columns + range.lowerBound)..<($0 * columns + range.upperBound)]
    }
    return CodeMatrix(uncheckedRows: rows, columns: range.count, values: part)
  }

  private init(uncheckedRows rows: Int, columns: Int, values: [Int32]) {
    self.rows = rows
    self.columns = columns
    self.values = values
  }

  /// C takes the number of columns only, and reads as many rows as the model has.
  func requireRows(_ expected: Int, _ what: String) throws(RemoraError) {
    if rows == expected { return }
    throw RemoraError(
      .invalidArgument, "\(what): has \(rows) rows, the model needs \(expected)")
  }
}
