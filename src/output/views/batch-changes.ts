import { cutName } from '../../domain/wording/shown-name.ts'
import { type ChangeKind, changeKind } from '../../domain/batch/plan.ts'
import type { RowChange } from '../../domain/batch/row.ts'
import { sanitize } from '../../host/text.ts'

const mostOfAKind = 3

const meanings: Record<ChangeKind, string> = {
  phone: 'phone: spaces, (), - and . are removed',
  country: 'phone: read as a number of --default-country',
  space: 'white space around the value is removed',
  apostrophe: 'the apostrophe that keeps a text from being a formula is removed',
  number: 'number: written as JSON writes it',
}

/** Before and after, for a person to review: by kind, the first of each or all of them. */
export function changesText(changes: readonly RowChange[], all = false): string {
  const kinds = Map.groupBy(changes, changeKind)
  const parts = [...kinds].map(([kind, found]) => {
    const shown = (all ? found : found.slice(0, mostOfAKind)).map(lineOf)
    const left = found.length - shown.length
    const lines = [`  ${String(found.length)} × ${meanings[kind]}`].concat(shown)
    return lines.concat(left > 0 ? `    … and ${String(left)} more: --show-changes` : []).join('\n')
  })
  return ['Changed before sending:', ...parts].join('\n')
}

function lineOf({ line, column, from, to }: RowChange): string {
  return `    line ${String(line)}, ${sanitize(column)}: "${sanitize(cutName(from))}" is sent as "${sanitize(cutName(to))}"`
}
