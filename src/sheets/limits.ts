import { cutText } from '../domain/wording/cut-text.ts'
import { InvalidInputError } from '../errors/kinds.ts'

const mebibyte = 1024 * 1024

/** Far above any file people order from, far below what would hurt the machine that reads it. */
export const limits = {
  /** Of a file of any format; workbooks, and what comes from stdin, are held in memory. */
  fileBytes: 64 * mebibyte,
  columns: 1000,
  /** Rows that hold anything: all of them are compared with one another, so each costs memory. */
  rows: 100_000,
  /** Lines of a text, blank ones too: as many as a spreadsheet has rows. */
  lines: 1_048_576,
  /** Of all cells of a table, and one for each cell: a workbook may repeat one text in millions of them. */
  characters: 64 * mebibyte,
  /** Of a CSV, blank ones and those past the header too. */
  cells: 8 * mebibyte,
  /** One CSV record or JSON row; an open quote would otherwise swallow the file. */
  rowCharacters: mebibyte,
  /** Workbooks only, as all below. */
  entries: 1000,
  sheets: 256,
  /** Pieces of 16 KiB that are inflated to find the sheets that hold something. */
  searchedPieces: 3072,
  sheetBytes: 256 * mebibyte,
  /** Of the texts all cells have in common, and of every other part that is held whole. */
  partBytes: 64 * mebibyte,
  /** How many times smaller a large part may have been packed; sheets come to 50 at most. */
  ratio: 150,
  ratioFrom: 16 * mebibyte,
  /** Elements within elements, of XML; programs come to a dozen. */
  nesting: 64,
  /** Of one element, declarations of namespaces included; programs write some dozens. */
  attributes: 256,
  /** Of one text, comment, name or value in XML; a cell has 32,767 at most. */
  xmlCharacters: mebibyte,
  relations: 100_000,
  /** Elements that describe columns: Excel has one for each of its columns at most. */
  columnElements: 16_384,
  smallPartBytes: mebibyte,
  texts: 1_000_000,
  /** Excel has at most 65,490. */
  styles: 100_000,
  merged: 100_000,
} as const

/** The file cannot be understood: what, where, and what to do. */
export function refusal(name: string, what: string, hint: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${name}: ${what}`, { hint, cause })
}

export const splitHint = 'Split it into several files.'

/** A workbook that is larger in some way than any that is read. */
export function beyondLimit(name: string, what: string): InvalidInputError {
  return refusal(name, what, 'Copy the rows into a new workbook, or save them as CSV.')
}

const longestShown = 60

/** A text from the file as a message shows it. */
export function shown(text: string): string {
  return `"${cutText(text, longestShown)}"`
}
