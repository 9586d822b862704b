import { maskUrl } from '../../contract/mask-url.ts'
import { masked, namesIn } from './mask.ts'
import { plainText } from './plain-text.ts'

/** More than anybody reads of a list. */
const mostItems = 200
const deepest = 30

/** A signed address opens a report for whoever has it. */
const signed = new Set(['report_pdf_url'])
const address = /https?:\/\/[^\s"<>]+/giu

type Redact = (text: string) => string

export interface TellingOptions {
  /** Whether personal data is shown as it is. */
  showsPersonalData: boolean
  /** A text without keys, secrets and tokens. */
  redact: Redact
  /** Other documents, with names that may stand in this one's texts. */
  others?: readonly unknown[] | undefined
}

/** A document as an agent is told it, and how many items of lists were left out. */
export interface Told {
  data: unknown
  leftOut: number
}

/**
 * What an agent may know of what a command printed: texts plain and short, lists cut, addresses of reports and secrets
 * never, people masked unless they may be shown.
 */
export function toldToAgent(document: unknown, options: TellingOptions): Told {
  const counts = { leftOut: 0 }
  const { showsPersonalData, redact, others = [] } = options
  // Before it is masked: what is not seen may stand between the letters of a name.
  const [shown, ...beside] = [document, ...others].map((each) => plain(each, '', redact, 0))
  const short = cut(shown, counts)
  const data = showsPersonalData ? short : masked(short, namesIn([shown, ...beside]))
  return { data, leftOut: counts.leftOut }
}

function cut(value: unknown, counts: { leftOut: number }): unknown {
  if (Array.isArray(value)) {
    counts.leftOut += Math.max(0, value.length - mostItems)
    return value.slice(0, mostItems).map((each) => cut(each, counts))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner, counts)]))
}

function plain(value: unknown, key: string, redact: Redact, depth: number): unknown {
  if (depth > deepest) return null
  if (typeof value === 'string') return signed.has(key) ? 'withheld' : plainOf(value, redact)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => plain(each, key, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      plainOf(name, redact),
      plain(inner, name, redact, depth + 1),
    ]),
  )
}

/** A secret is looked for again once what is not seen is gone from between its letters. */
function plainOf(text: string, redact: Redact): string {
  return redact(plainText(redact(text)).replace(address, (each) => maskUrl(each)))
}
