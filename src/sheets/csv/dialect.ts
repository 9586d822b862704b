import { CsvError, type Options, parse } from 'csv-parse/sync'

import type { Dialect } from '../../domain/sheet/cell.ts'
import { refusal } from '../refusal.ts'

export const delimiters = [',', ';', '\t', '|'] as const

const sampledRecords = 50

/** What csv-parse is told everywhere: nothing is guessed, nothing is let through. */
export function parserOptions({ delimiter, spaced }: Pick<Dialect, 'delimiter' | 'spaced'>): Options {
  const record_delimiter = ['\r\n', '\n', '\r']
  return { delimiter, record_delimiter, relax_column_count: true, bom: false, trim: spaced }
}

export type CsvDialect = Pick<Dialect, 'delimiter' | 'lineEnd' | 'quote' | 'separatorLine' | 'spaced'>

/** How the file's first part is written; `complete` says whether it is all there is. */
export function detectDialect(sample: string, complete: boolean, name: string): CsvDialect {
  const separator = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(sample)
  const body = sample.slice(separator?.[0].length ?? 0)
  const { delimiter, spaced } = findDelimiter(separator?.[1], body, complete, name)
  return {
    delimiter,
    spaced,
    lineEnd: lineEnd(sample),
    quote: allQuoted(body, delimiter) ? 'all' : 'needed',
    separatorLine: separator !== null,
  }
}

interface Candidate {
  delimiter: string
  /** Whether it can only be read with spaces between separators and quotes, as in `"a", "b"`. */
  spaced: boolean
  /** Cells of the header. */
  width: number
  /** How many of the records are as wide, from 0 to 1. */
  even: number
}

function findDelimiter(
  told: string | undefined,
  body: string,
  complete: boolean,
  name: string,
): Pick<Candidate, 'delimiter' | 'spaced'> {
  if (told !== undefined) return judge(told, body, complete)
  const candidates = delimiters
    .map((delimiter) => judge(delimiter, body, complete))
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.even - a.even || b.width - a.width)
  const [best, second] = candidates
  if (best === undefined) return { delimiter: ',', spaced: false }
  if (second !== undefined && second.even === best.even && second.width === best.width) {
    const names = [best, second].map(({ delimiter }) => JSON.stringify(delimiter)).join(' or ')
    throw refusal(
      name,
      `the separator could be ${names}`,
      'Put a line such as sep=; before the header, or save it as XLSX.',
    )
  }
  return best
}

function judge(delimiter: string, body: string, complete: boolean): Candidate {
  let spaced = false
  let read = sampled(body, { delimiter, spaced })
  if (read.failed === 'INVALID_OPENING_QUOTE' && delimiter !== '\t') {
    const other = sampled(body, { delimiter, spaced: true })
    if (other.failed === undefined || (!complete && other.failed === 'CSV_QUOTE_NOT_CLOSED')) {
      spaced = true
      read = other
    }
  }
  const { widths, failed } = read
  // What is wrong, and where, is said when the file is read. A cut sample may well end inside quotes.
  if (failed !== undefined && (complete || widths.length === 0)) {
    return { delimiter, spaced, width: headerWidth(body, delimiter), even: 0 }
  }
  if (!complete && widths.length > 1) widths.pop()
  const width = usualWidth(widths)
  return {
    delimiter,
    spaced,
    width,
    even: widths.filter((each) => each === width).length / Math.max(1, widths.length),
  }
}

/** How wide the first records are, empty ones left out, and what ended the reading too early. */
function sampled(
  body: string,
  dialect: Pick<Dialect, 'delimiter' | 'spaced'>,
): { widths: number[]; failed?: string | undefined } {
  const widths: number[] = []
  try {
    parse(body, {
      ...parserOptions(dialect),
      to: sampledRecords,
      on_record: (record: string[]) => {
        if (record.some((cell) => cell !== '')) widths.push(record.length)
        return null
      },
    })
    return { widths }
  } catch (error) {
    return { widths, failed: error instanceof CsvError ? error.code : 'unknown' }
  }
}

/** The header's, unless most rows are otherwise: a title may stand above it. */
function usualWidth(widths: readonly number[]): number {
  const [first = 0] = widths
  const count = (width: number): number => widths.filter((each) => each === width).length
  if (first > 1 && count(first) * 2 >= widths.length) return first
  return [...new Set(widths)].reduce(
    (best, width) =>
      count(width) > count(best) || (count(width) === count(best) && width > best) ? width : best,
    first,
  )
}

function headerWidth(body: string, delimiter: string): number {
  const [line = ''] = body.split(/\r\n|\n|\r/, 1)
  return line.replaceAll(/"[^"]*"/g, '').split(delimiter).length
}

/** The first line end outside quotes. */
function lineEnd(sample: string): CsvDialect['lineEnd'] {
  const outside = sample.replaceAll(/"[^"]*"/g, '')
  const found = /\r\n|\n|\r/.exec(outside)?.[0]
  return found === '\r\n' || found === '\r' ? found : '\n'
}

function allQuoted(body: string, delimiter: string): boolean {
  const [line = ''] = body.trimStart().split(/\r\n|\n|\r/, 1)
  const cells = line.split(delimiter)
  return line !== '' && cells.every((cell) => cell.length > 1 && cell.startsWith('"') && cell.endsWith('"'))
}
