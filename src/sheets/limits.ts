const mebibyte = 1024 * 1024

/** Far above any file people order from, far below what would hurt the machine that reads it. */
export const limits = {
  /** Of XLSX and of anything from stdin, which are held in memory. */
  heldBytes: 64 * mebibyte,
  columns: 1000,
  /** One CSV record or JSON row; an open quote would otherwise swallow the file. */
  rowCharacters: mebibyte,
  /** XLSX only, as all below. */
  entries: 1000,
  sheetBytes: 256 * mebibyte,
  /** Of the texts all cells have in common, and of every other part that is held whole. */
  partBytes: 64 * mebibyte,
  /** How many times smaller a large part may have been packed; sheets come to 50 at most. */
  ratio: 150,
  ratioFrom: 16 * mebibyte,
  /** Elements within elements, of XML; programs come to a dozen. */
  nesting: 64,
  smallPartBytes: mebibyte,
  texts: 4_000_000,
  /** Excel has at most 65,490. */
  styles: 100_000,
  merged: 100_000,
  /** Excel has at most 65,530 a sheet. */
  links: 65_530,
} as const
