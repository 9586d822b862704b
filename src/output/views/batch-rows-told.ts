import { personName } from '../../domain/wording/shown-name.ts'
import type { Plan } from '../../domain/batch/plan.ts'
import type { UnlikelyValue } from '../../domain/batch/row.ts'
import { heldWords, personOf, sharedText, stopText } from '../../domain/submission/duplicate.ts'
import type { Stop } from '../../domain/submission/conflicts.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { witnessPlace } from '../../domain/submission/external-results.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { sanitize } from '../../host/text.ts'

const mostPairs = 10
const mostNamed = 5

/** A person counts lines as the spreadsheet program does; a row alone is named where its line is not known. */
export function place(row: number, line: number | undefined): string {
  return line === undefined ? `row ${row}` : `line ${line}`
}

/** Only what was accepted is called ordered; of the rest no more is said than is known. */
export function matchLines(matches: Plan['matches']): string[] {
  const inState = (...states: SubmissionState[]) =>
    matches.filter(({ stop: { order, witness } }) => witness === undefined && states.includes(order.state))
  const waiting = inState('pending')
  const inFlight = inState('sending')
  const unknown = inState('unknown', 'dropped')
  const apart = new Set([...waiting, ...inFlight, ...unknown])
  return [
    ...notSentLines(
      matches.filter((each) => !apart.has(each)),
      'ordered before, not sent',
    ),
    ...notSentLines(unknown, 'that may have been ordered before, not sent'),
    ...notSentLines(inFlight, 'in flight in another command, not sent'),
    ...notSentLines(waiting, 'already waiting in a batch, not sent'),
  ]
}

function notSentLines(matches: Plan['matches'], why: string): string[] {
  if (matches.length === 0) return []
  return [
    `  ${countInWords(matches.length, 'row')} ${why}`,
    ...matches
      .slice(0, mostPairs)
      .map(({ row, line, stop }) => `    ${place(row, line)}: ${sanitize(whatMatches(stop))}`),
  ]
}

/** As a couple or an office has: they are sent. */
export function phoneLines(phones: Plan['phones']): string[] {
  if (phones.length === 0) return []
  const [few, many] = ['has the phone of another person', 'have the phone of another person']
  const lines = phones
    .slice(0, mostNamed)
    .map(
      ({ row, line, person, order }) => `${personName(person)} (${place(row, line)}) and ${personOf(order)}`,
    )
  return [
    `  ${countInWords(phones.length, 'row')} ${phones.length === 1 ? few : many}: ${phones.length === 1 ? 'it is' : 'they are'} sent`,
    ...lines.map((line) => `    ${sanitize(line)}`),
    ...(phones.length > mostNamed ? [`    … and ${phones.length - mostNamed} more`] : []),
  ]
}

/** What is improbable in rows that are sent: only a person can tell. */
export function unlikelyLines(unlikely: readonly UnlikelyValue[]): string[] {
  if (unlikely.length === 0) return []
  const rows = new Set(unlikely.map(({ row }) => row)).size
  const lines = unlikely.slice(0, mostPairs).map((each) => `    ${sanitize(unlikelyText(each))}`)
  return [
    `  ${countInWords(rows, 'row')} with an unlikely value; fix the file, or ${rows === 1 ? 'it is' : 'they are'} sent as ${rows === 1 ? 'it is' : 'they are'}`,
    ...lines,
    ...(unlikely.length > mostPairs ? [`    … and ${unlikely.length - mostPairs} more`] : []),
  ]
}

function unlikelyText({ person, line, row, column, value, problem }: UnlikelyValue): string {
  return `${person} (${place(row, line)}): ${column} ${value} ${problem}`
}

/** One line for who is not shown the plan; undefined where nothing is improbable. */
export function unlikelyWarning({ unlikely }: Plan, name: string): string | undefined {
  const [first, ...others] = unlikely
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${countInWords(others.length, 'more value', 'more values')}`
  return `${name}: unlikely, and sent as it is: ${unlikelyText(first)}${more}`
}

/** Grouped by what they share, by name: not sent until somebody says so. */
export function heldLines(held: Plan['held']): string[] {
  if (held.length === 0) return []
  const groups = Map.groupBy(held, ({ person, stop }) =>
    stop.reason === 'similar'
      ? `the same ${sharedText(stop.shares)} as ${likeWhom(person, stop)}`
      : stop.reason === 'unmatched_request'
        ? stopText(stop)
        : heldWords[stop.reason],
  )
  const lines = [...groups].slice(0, mostPairs).map(([what, rows]) => {
    const people = rows
      .slice(0, mostNamed)
      .map(({ row, line, person }) => `${personName(person)} (${place(row, line)})`)
    const rest = rows.length > mostNamed ? ` and ${rows.length - mostNamed} more` : ''
    return `    ${sanitize(what)}\n      ${sanitize(people.join(', '))}${rest}`
  })
  return [
    `  ${countInWords(held.length, 'row')} held, not sent until you release ${held.length === 1 ? 'it' : 'them'}`,
    ...lines,
    ...(groups.size > mostPairs ? [`    … and ${groups.size - mostPairs} more groups`] : []),
  ]
}

/** Who has the same, and what: the e-mail stands with the person already. */
function likeWhom(person: Plan['held'][number]['person'], { order, shares, witness }: Stop): string {
  if (witness === undefined && order.recipient !== undefined && shares.includes('email'))
    return personOf(order)
  const who = witness === undefined ? personOf(order) : witnessPlace(witness)
  return `${who}: ${shares.includes('email') ? person.email : person.phone}`
}

function whatMatches({ order, witness }: Stop): string {
  const { requestId, state, batchId, row } = order
  if (witness !== undefined) return `request ${requestId ?? ''} (${witnessPlace(witness)})`
  return requestId === undefined ? `row ${row} of batch ${batchId} (${state})` : `request ${requestId}`
}
