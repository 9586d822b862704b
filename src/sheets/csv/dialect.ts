import { type Options, parse } from 'csv-parse/sync'

import type { Dialect } from '../../domain/sheet/cell.ts'
import { refusal } from '../refusal.ts'

export const delimiters = [',', ';', '\t', '|'] as const

const sampledRecords = 50

/** What csv-parse is told everywhere: nothing is guessed, nothing is let through. */
export function parserOptions(delimiter: string): Options {
  return { delimiter, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true, bom: false }
}

export type CsvDialect = Pick<Dialect, 'delimiter' | 'lineEnd' | 'quote' | 'separatorLine'>

/** How the file's first part is written; `complete` says whether it is all there is. */
export function detectDialect(sample: string, complete: boolean, name: string): CsvDialect {
  const separator = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(sample)
  const body = sample.slice(separator?.[0].length ?? 0)
  const delimiter = separator?.[1] ?? findDelimiter(body, complete, name)
  return {
    delimiter,
    lineEnd: lineEnd(sample),
    quote: allQuoted(body, delimiter) ? 'all' : 'needed',
    separatorLine: separator !== null,
  }
}

interface Candidate {
  delimiter: string
  /** Cells of the header. */
  width: number
  /** How many of the records are as wide, from 0 to 1. */
  even: number
}

function findDelimiter(body: string, complete: boolean, name: string): string {
  const candidates = delimiters
    .map((delimiter) => judge(delimiter, body, complete))
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.even - a.even || b.width - a.width)
  const [best, second] = candidates
  if (best === undefined) return ','
  if (second !== undefined && second.even === best.even && second.width === best.width) {
    const names = [best, second].map(({ delimiter }) => JSON.stringify(delimiter)).join(' or ')
    throw refusal(
      name,
      `cannot tell which separates cells, ${names}`,
      'Put sep=; (or what it is) on a line of its own before the header, or save it as XLSX.',
    )
  }
  return best.delimiter
}

function judge(delimiter: string, body: string, complete: boolean): Candidate {
  const widths: number[] = []
  try {
    parse(body, {
      ...parserOptions(delimiter),
      to: sampledRecords,
      on_record: (record: string[]) => {
        if (record.some((cell) => cell !== '')) widths.push(record.length)
        return null
      },
    })
  } catch {
    // What is wrong, and where, is said when the file is read. A cut sample may well end inside quotes.
    if (complete || widths.length === 0) return { delimiter, width: headerWidth(body, delimiter), even: 0 }
  }
  if (!complete && widths.length > 1) widths.pop()
  const [width = 0] = widths
  return {
    delimiter,
    width,
    even: widths.filter((each) => each === width).length / Math.max(1, widths.length),
  }
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
