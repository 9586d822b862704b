import type { Answer } from './answer.ts'
import type { Case, CaseKind } from './case.ts'
import { tryOrder } from './order.ts'
import type { CallOptions, Visit } from './visit.ts'
import { isObject } from './shape.ts'

/** One of these statuses, or a function that returns findings about the response. */
type Expected = number | readonly number[] | ((answer: Answer) => string[])

/** A call and the response that the document requires. */
export type Ask = CallOptions & { expect: Expected } & ({ get: string } | { order: unknown })

/** Calls to make, and findings. */
export type Expectations = readonly (Ask | string)[]

export type Run = (visit: Visit) => Expectations | Promise<Expectations>

/** By case id: the sentence of the document, and the calls that test it. */
type Rows = Readonly<Record<string, readonly [rule: string, run: Run | readonly Ask[]]>>

/** Makes cases of one kind about one section of the document. */
export function under(section: string, kind: CaseKind, rows: Rows): Case[] {
  return Object.entries(rows).map(([id, [rule, run]]) => ({
    id,
    section,
    rule,
    kind,
    run: async (visit) => judge(visit, typeof run === 'function' ? await run(visit) : run),
  }))
}

/** Makes the calls in order and returns the findings, those about the responses included. */
export async function judge(visit: Visit, expectations: Expectations): Promise<string[]> {
  const findings: string[] = []
  for (const each of expectations) {
    if (typeof each === 'string') findings.push(each)
    else findings.push(...expected(await call(visit, each), each.expect))
  }
  return findings
}

function call(visit: Visit, ask: Ask): Promise<Answer> {
  return 'get' in ask ? visit.probe.get(ask.get, ask) : tryOrder(visit, ask.order, ask)
}

function expected(answer: Answer, expect: Expected): string[] {
  return typeof expect === 'function' ? expect(answer) : expectStatus(answer, ...[expect].flat())
}

/** Expects a 400 that names one of these fields. */
export const refused =
  (...paths: string[]) =>
  (answer: Answer): string[] =>
    expectRefusedField(answer, ...paths)

/** Returns the items if the condition is met, otherwise none. */
export const when = <T>(isMet: boolean, ...items: T[]): T[] => (isMet ? items : [])

/** Returns the values that occur more than once. */
export const repeated = (all: readonly unknown[]): unknown[] =>
  all.filter((each, at) => all.indexOf(each) !== at)

/** Expects one of these statuses. */
export function expectStatus(answer: Answer, ...statuses: number[]): string[] {
  return statuses.includes(answer.status)
    ? []
    : [`${answer.label}: expected ${statuses.join(' or ')}, ${answer.summary}`]
}

/**
 * Expects a 400 whose message names one of the fields, as in "`<field path>: <reason>`". The form of a path is open:
 * `a[0].b`, `a.0.b`, `/a/0/b`, `$.a[0].b` and `body.a.b` are the same path. The path may also be that of the object
 * that contains the field, if the reason names the field, or of a value within it.
 */
export function expectRefusedField(answer: Answer, ...paths: string[]): string[] {
  const wrong = expectStatus(answer, 400)
  if (wrong.length > 0) return wrong
  const [, path = '', reason = ''] = /^(.*?):\s*(.*)$/s.exec(answer.message ?? '') ?? []
  const isPath = path !== '' && !/\s/.test(path.replaceAll(/\[[^\]]*\]/g, ''))
  if (isPath && reason.trim() !== '' && paths.some((wanted) => names(path, reason, wanted))) return []
  return [`${answer.label}: expected the message "${paths[0]}: <reason>", ${answer.summary}`]
}

const rootNames = new Set(['body', 'request', 'root', 'payload'])

/** Whether a message is about the required field. */
function names(path: string, reason: string, wanted: string): boolean {
  const [at, words] = [namesOf(path), namesOf(wanted)]
  const [top, leaf] = [words[0] ?? '', words.at(-1) ?? '']
  // A field of the body itself may be named by the body, whatever the service calls it.
  const isRoot = at.every((name) => rootNames.has(name.toLowerCase()))
  if (words.length === 1 && isRoot && namesOf(reason).includes(leaf)) return true
  return at.includes(top) && (at.includes(leaf) || namesOf(reason).includes(leaf))
}

/** Returns the names in a path without indexes. */
const namesOf = (text: string): string[] => text.match(/[A-Za-z_][\w-]*/g) ?? []

/** Expects a complete PDF: "Content-Type application/pdf, binary PDF body". */
export function expectPdf(answer: Answer): string[] {
  const wrong = expectStatus(answer, 200)
  if (wrong.length > 0) return wrong
  const findings: string[] = []
  if (answer.type !== 'application/pdf') {
    findings.push(
      `${answer.label}: expected Content-Type application/pdf, got ${answer.header('content-type') ?? 'none'}`,
    )
  }
  const start = answer.bytes.subarray(0, 5).toString('latin1')
  const end = answer.bytes.subarray(-1024).toString('latin1')
  if (start !== '%PDF-' || !end.includes('%%EOF'))
    findings.push(`${answer.label}: the body is not a complete PDF`)
  return findings
}

/** Compares a value of the response with the required one, regardless of the order of fields. */
export function expectSame(label: string, value: unknown, required: unknown): string[] {
  const [got, wanted] = [ordered(value), ordered(required)]
  return got === wanted ? [] : [`${label}: expected ${wanted}, got ${got ?? 'nothing'}`]
}

/** Returns JSON text with the fields of all objects sorted; undefined for undefined. */
export function ordered(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}
