import type { Answer } from './answer.ts'
import type { Case, CaseKind } from './case.ts'
import { expectRefusedField, expectStatus } from './expect.ts'
import { tryOrder } from './order.ts'
import type { CallOptions } from './probe.ts'
import type { Visit } from './visit.ts'

/** One of these statuses, or a function that returns what is wrong with the answer. */
type Expected = number | readonly number[] | ((answer: Answer) => string[])

/** A call, and the answer that the document demands. */
export type Ask = CallOptions & { expect: Expected } & ({ get: string } | { order: unknown })

/** Asks that are still to be made, and findings. */
export type Expectations = readonly (Ask | string)[]

export type Run = (visit: Visit) => Expectations | Promise<Expectations>

/** By case id: the words of the document, and the calls that show whether the service keeps them. */
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
