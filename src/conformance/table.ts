import type { Answer } from './answer.ts'
import type { Case, CaseKind } from './case.ts'
import { tryOrder } from './order.ts'
import type { CallOptions, Visit } from './visit.ts'
import { isObject } from './shape.ts'

/** One of these statuses, or a function that returns what is wrong with the answer. */
type Expected = number | readonly number[] | ((answer: Answer) => string[])

/** A call, and the answer that the document demands. */
export type Ask = CallOptions & { expect: Expected } & ({ get: string } | { order: unknown })

/** Asks that are still to be made, and findings. */
export type Expectations = readonly (Ask | string)[]

export type Run = (visit: Visit) => Expectations | Promise<Expectations>

/** By case id: the words of the document, and the calls that show whether the service follows them. */
type Rows = Readonly<Record<string, readonly [rule: string, run: Run | readonly Ask[]]>>

/** Cases of one kind that quote one section of the document. */
export function under(section: string, kind: CaseKind, rows: Rows): Case[] {
  return Object.entries(rows).map(([id, [rule, run]]) => ({
    id,
    section,
    rule,
    kind,
    run: async (visit) => judge(visit, typeof run === 'function' ? await run(visit) : run),
  }))
}

/** Makes the asks in their order, and adds what is wrong with their answers to the findings. */
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

/** A 400 that names one of these fields. */
export const refused =
  (...paths: string[]) =>
  (answer: Answer): string[] =>
    expectRefusedField(answer, ...paths)

/** The items where something is the case, else none. */
export const when = <T>(isMet: boolean, ...items: T[]): T[] => (isMet ? items : [])

/** Those that come more than once. */
export const repeated = (all: readonly unknown[]): unknown[] =>
  all.filter((each, at) => all.indexOf(each) !== at)

/** One of these statuses. */
export function expectStatus(answer: Answer, ...statuses: number[]): string[] {
  return statuses.includes(answer.status)
    ? []
    : [`${answer.label}: expected ${statuses.join(' or ')}, ${answer.summary}`]
}

/**
 * A 400 whose message names the field, as in "`<field path>: <reason>`". How a path is written is open: `a[0].b`,
 * `a.0.b`, `/a/0/b`, `$.a[0].b` and `body.a.b` are one path. It may also be the path of the object that has the field,
 * where the reason names the field, or of something within it. Where several fields could be meant, any of them will do.
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

/** Whether a message is about the wanted field. */
function names(path: string, reason: string, wanted: string): boolean {
  const [at, words] = [namesOf(path), namesOf(wanted)]
  const [top, leaf] = [words[0] ?? '', words.at(-1) ?? '']
  // The object that has a field of the body itself is the body, whatever that is called.
  const isRoot = at.every((name) => rootNames.has(name.toLowerCase()))
  if (words.length === 1 && isRoot && namesOf(reason).includes(leaf)) return true
  return at.includes(top) && (at.includes(leaf) || namesOf(reason).includes(leaf))
}

/** The names in a path, without indexes. */
const namesOf = (text: string): string[] => text.match(/[A-Za-z_][\w-]*/g) ?? []

/** "Content-Type application/pdf, binary PDF body". */
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

/** A value of the answer against what it has to be; the order of an object's fields means nothing. */
export function expectSame(label: string, value: unknown, required: unknown): string[] {
  const [got, wanted] = [ordered(value), ordered(required)]
  return got === wanted ? [] : [`${label}: expected ${wanted}, got ${got ?? 'nothing'}`]
}

/** JSON text with the fields of every object in one order; undefined of nothing. */
export function ordered(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}
