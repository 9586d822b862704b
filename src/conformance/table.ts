import { isJsonObject } from '../contract/parse-json.ts'
import type { Answer } from './answer.ts'
import type { Case, CaseKind } from './case.ts'
import { sendOrder } from './order.ts'
import type { CallOptions, CaseContext } from './case-context.ts'

/** Lines about breaches of a rule. `false` and `undefined` are none, so an entry can be `isBroken && 'text'`. */
export type Findings = readonly (string | false | undefined)[]

/** The allowed statuses, or a function that returns findings about the response. */
type Expected = number | readonly number[] | ((answer: Answer) => Findings)

/** A call and the response that the document requires. */
export type ExpectedCall = CallOptions & { expect: Expected } & ({ get: string } | { order: unknown })

/** The calls to make, in this order, and findings that are known without a call. */
export type Expectations = readonly (ExpectedCall | Findings[number])[]

export type Run = (context: CaseContext) => Expectations | Promise<Expectations>

/** The sentence of the document and the calls that test it, by case id. */
type Rows = Readonly<Record<string, readonly [rule: string, run: Run | readonly ExpectedCall[]]>>

/** Returns cases about one section of the document that only read. */
export const createReadCases = (section: string, rows: Rows): Case[] => createCases('read', section, rows)

/** Returns cases about one section of the document that send orders, or read the requests of orders. */
export const createOrderCases = (section: string, rows: Rows): Case[] => createCases('create', section, rows)

/** Returns cases about one section of the document that use up the quota. */
export const createQuotaCases = (section: string, rows: Rows): Case[] => createCases('slow', section, rows)

/** Returns cases about one section of the document that control the deployment, such as its clock or webhook. */
export const createDeploymentControlCases = (section: string, rows: Rows): Case[] =>
  createCases('control', section, rows)

function createCases(kind: CaseKind, section: string, rows: Rows): Case[] {
  return Object.entries(rows).map(([id, [rule, run]]) => ({
    id,
    section,
    rule,
    kind,
    run: async (context) => collectFindings(context, typeof run === 'function' ? await run(context) : run),
  }))
}

/** Makes the calls in order. Returns the findings about their responses and the findings among the expectations. */
export async function collectFindings(context: CaseContext, expectations: Expectations): Promise<string[]> {
  const findings: Findings[number][] = []
  for (const each of expectations) {
    if (typeof each === 'object') findings.push(...checkAnswer(await call(context, each), each.expect))
    else findings.push(each)
  }
  return findings.filter((each) => typeof each === 'string')
}

function call(context: CaseContext, expectedCall: ExpectedCall): Promise<Answer> {
  return 'get' in expectedCall
    ? context.probe.get(expectedCall.get, expectedCall)
    : sendOrder(context, expectedCall.order, expectedCall)
}

function checkAnswer(answer: Answer, expect: Expected): Findings {
  return typeof expect === 'function' ? expect(answer) : expectStatus(answer, ...[expect].flat())
}

/**
 * Returns a function that makes tests of what `prepare` returns. A test gets this value and returns what is expected.
 */
export const testWith =
  <T>(prepare: (context: CaseContext) => T | Promise<T>) =>
  (expectations: (value: T, context: CaseContext) => Expectations | Promise<Expectations>): Run =>
  async (context) =>
    expectations(await prepare(context), context)

/**
 * Returns a function that makes tests of each item of a list. `describe` returns the start of the findings about an item.
 */
export const testEach =
  <T>(list: (context: CaseContext) => Promise<readonly T[]>, describe: (item: T) => string = () => '') =>
  (expectations: (item: T, context: CaseContext) => Expectations): Run =>
  async (context) =>
    (await list(context)).flatMap((item) =>
      expectations(item, context).map((each) =>
        typeof each === 'string' ? `${describe(item)}${each}` : each,
      ),
    )

/** Returns the values that occur more than once. */
export const findDuplicates = (values: readonly unknown[]): unknown[] =>
  values.filter((each, index) => values.indexOf(each) !== index)

export const expectUniqueIds = (ids: readonly unknown[]): string[] =>
  findDuplicates(ids).map((id) => `the id ${String(id)} is listed more than once`)

/** Returns a finding unless the response has one of these statuses. */
export function expectStatus(answer: Answer, ...statuses: number[]): string[] {
  return statuses.includes(answer.status)
    ? []
    : [`${answer.label}: expected ${statuses.join(' or ')}, ${answer.summary}`]
}

/**
 * Returns a function that expects a 400 whose message names one of the fields, as in "`<field path>: <reason>`". The
 * form of a path is open: `a[0].b`, `a.0.b`, `/a/0/b`, `$.a[0].b` and `body.a.b` are the same path. The path may also
 * be that of the object that contains the field, if the reason names the field, or of a value within the field.
 */
export const expectRefusal =
  (...paths: string[]) =>
  (answer: Answer): string[] => {
    const findings = expectStatus(answer, 400)
    if (findings.length > 0) return findings
    const [, path = '', reason = ''] = /^(.*?):\s*(.*)$/s.exec(answer.message ?? '') ?? []
    const isPath = path !== '' && !/\s/.test(path.replaceAll(/\[[^\]]*\]/g, ''))
    const isNamed =
      isPath && reason.trim() !== '' && paths.some((expected) => isAboutField(path, reason, expected))
    return isNamed ? [] : [`${answer.label}: expected the message "${paths[0]}: <reason>", ${answer.summary}`]
  }

const rootNames = new Set(['body', 'request', 'root', 'payload'])

/** Returns true if a message is about the field with this path. */
function isAboutField(path: string, reason: string, expectedPath: string): boolean {
  const [namesInPath, expectedNames] = [findNames(path), findNames(expectedPath)]
  const [top, leaf] = [expectedNames[0] ?? '', expectedNames.at(-1) ?? '']
  // For a field of the body itself, the path may be any name of the body, if the reason names the field.
  const isRoot = namesInPath.every((name) => rootNames.has(name.toLowerCase()))
  if (expectedNames.length === 1 && isRoot && findNames(reason).includes(leaf)) return true
  return namesInPath.includes(top) && (namesInPath.includes(leaf) || findNames(reason).includes(leaf))
}

/** Returns the names in a path, without indexes. */
const findNames = (text: string): string[] => text.match(/[A-Za-z_][\w-]*/g) ?? []

/**
 * Returns findings unless the response is a complete PDF: "Content-Type application/pdf, binary PDF body".
 */
export function expectPdf(answer: Answer): string[] {
  const statusFindings = expectStatus(answer, 200)
  if (statusFindings.length > 0) return statusFindings
  const findings: string[] = []
  if (answer.mediaType !== 'application/pdf') {
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

/**
 * Returns a finding unless a value of the response equals the required value. The order of fields is ignored.
 */
export function expectSame(label: string, value: unknown, required: unknown): string[] {
  const [actualText, requiredText] = [toSortedJson(value), toSortedJson(required)]
  return actualText === requiredText
    ? []
    : [`${label}: expected ${requiredText}, got ${actualText ?? 'nothing'}`]
}

/** Returns the JSON text with the fields of all objects sorted; undefined for undefined. */
export function toSortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}
