import type { Finding, Level } from '../../domain/doctor/finding.ts'
import type { CaseReport, ReceiverReport, Verdict } from '../../domain/webhook/receiver-check.ts'
import { formatCount, escapeXml } from '../../domain/wording/text.ts'
import type { conformance } from '../schemas/integration.ts'
import { sanitize } from '../../host/text.ts'
import { indentLines, type Style, styled, type Terminal } from '../terminal.ts'
import type { View, JsonOf } from '../view.ts'

const levelStyles: Readonly<Record<Level, Style>> = { ok: 'green', warn: 'yellow', fail: 'red' }
const checkNameWidth = 12
const findingIndent = ' '.repeat(6 + checkNameWidth + 2)

/** Shows a line for each check and its hint below it. `report` is the path of the report file if one was written. */
export function doctorView(findings: readonly Finding[], report?: string): View {
  return {
    json: { checks: findings, ...(report !== undefined && { report }) },
    text: (terminal) => findings.map((finding) => findingText(finding, terminal)).join('\n'),
  }
}

function findingText({ check, level, message, hint }: Finding, terminal: Terminal): string {
  const head = `${styled(terminal, levelStyles[level], level.padEnd(4))}  ${check.padEnd(checkNameWidth)}  `
  const indent = (text: string): string => indentLines(sanitize(text), findingIndent, terminal)
  return [head + indent(message).trimStart(), ...(hint?.split('\n').map(indent) ?? [])].join('\n')
}

type ConformanceAnswer = JsonOf<typeof conformance>

/**
 * Shows the broken rules with their findings, the rules that were not judged grouped by reason, and the
 * totals.
 */
export function conformanceView(report: ConformanceAnswer): View {
  return {
    json: report,
    text: (terminal) =>
      [
        ...casesText(report, 'broken', terminal),
        ...casesText(report, 'advice', terminal),
        ...skippedRulesText(report, terminal),
        ...untestableRulesText(report, terminal),
        totalsText(report, terminal),
      ].join('\n'),
  }
}

/** Returns the cases with a broken rule and their findings, or the cases with advice. */
function casesText({ cases }: ConformanceAnswer, word: 'broken' | 'advice', terminal: Terminal): string[] {
  return cases.flatMap(({ id, section, rule, verdict, findings, advice }) => {
    const isBroken = word === 'broken'
    if (isBroken ? verdict !== 'broken' : advice.length === 0) return []
    const head = `${styled(terminal, isBroken ? 'red' : 'yellow', word)}  ${styled(terminal, 'bold', id)}  ${section}`
    const lines = (isBroken ? findings : advice).map((line) => `  - ${sanitize(line)}\n`).join('')
    return `${head}\n  "${rule}"\n${lines}`
  })
}

/** Returns the rules that no client can test. They are shown only after a full run, which has more than 50 cases. */
function untestableRulesText(
  { cases, cannot_be_judged: rules }: ConformanceAnswer,
  terminal: Terminal,
): string[] {
  if (cases.length < 50) return []
  const lines = rules.map(({ rule, reason }) => `  "${rule}"\n    ${reason}`)
  return [styled(terminal, 'dim', 'cannot be judged from outside'), ...lines, '']
}

function skippedRulesText({ cases }: ConformanceAnswer, terminal: Terminal): string[] {
  const byReason = Map.groupBy(
    cases.filter(({ verdict }) => verdict === 'not_judged'),
    ({ reason }) => reason ?? '',
  )
  return [...byReason].flatMap(([reason, casesOfReason]) => [
    `${styled(terminal, 'yellow', 'not judged')}  ${sanitize(reason)}`,
    `  ${casesOfReason.map(({ id }) => id).join(', ')}`,
    '',
  ])
}

function totalsText({ base_url, counts }: ConformanceAnswer, terminal: Terminal): string {
  const count = (number: number, words: string, style: Style): string =>
    number === 0 ? `${number} ${words}` : styled(terminal, style, `${number} ${words}`)
  const parts = [
    count(counts.holds, counts.holds === 1 ? 'holds' : 'hold', 'green'),
    count(counts.broken, counts.broken === 1 ? 'is broken' : 'are broken', 'red'),
    count(counts.not_judged, counts.not_judged === 1 ? 'was not judged' : 'were not judged', 'yellow'),
  ]
  const rules = counts.cases === 1 ? 'rule' : 'rules'
  return `${counts.cases} ${rules} at ${sanitize(base_url)}: ${parts.join(', ')}.`
}

const verdictStyles: Readonly<Record<Verdict, Style>> = {
  passed: 'green',
  advised: 'yellow',
  failed: 'red',
  not_judged: 'dim',
}

/**
 * Shows a line for each case, with its rule and findings unless it passed. The cases that were not judged follow,
 * grouped by reason.
 */
export function receiverCheckView(report: ReceiverReport): View {
  return {
    json: report,
    text: (terminal) => {
      const tested = report.cases.filter(({ verdict }) => verdict !== 'not_judged')
      const cases = tested.map((each) => caseText(each, terminal))
      return [...cases, ...skippedCasesText(report.cases, terminal), '', totalsLine(report, terminal)].join(
        '\n',
      )
    },
  }
}

function caseText({ id, title, rule, verdict, findings }: CaseReport, terminal: Terminal): string {
  const word = { passed: 'passed', advised: 'advice', failed: 'FAILED', not_judged: '' }[verdict]
  const head = `${styled(terminal, verdictStyles[verdict], word)}  ${id}  ${styled(terminal, 'dim', title)}`
  if (findings.length === 0) return head
  const lines = [`"${rule}"`, ...findings.map(({ text }) => `- ${sanitize(text)}`)]
  return [head, ...lines.map((text) => indentLines(text, caseIndent, terminal))].join('\n')
}

const caseIndent = ' '.repeat(8)

function skippedCasesText(cases: readonly CaseReport[], terminal: Terminal): string[] {
  const byReason = Map.groupBy(
    cases.filter(({ reason }) => reason !== null),
    ({ reason }) => reason,
  )
  return [...byReason].flatMap(([reason, casesOfReason]) => [
    `${styled(terminal, 'yellow', 'not judged')}  ${sanitize(reason ?? '')}`,
    indentLines(casesOfReason.map(({ id }) => id).join(', '), caseIndent, terminal),
  ])
}

function totalsLine(
  { counts, passed, deliveries, slowest_ms, url }: ReceiverReport,
  terminal: Terminal,
): string {
  const verdict = passed ? styled(terminal, 'green', 'passed') : styled(terminal, 'red', 'failed')
  const parts = [
    `${counts.passed} passed`,
    `${counts.advised} with advice`,
    `${counts.failed} failed`,
    `${counts.not_judged} not judged`,
  ]
  const slowest =
    slowest_ms === null ? 'nothing was accepted' : `the slowest acceptance took ${slowest_ms} ms`
  return `${verdict}  ${sanitize(url)}: ${parts.join(', ')}. ${formatCount(deliveries, 'delivery', 'deliveries')}; ${slowest}.`
}

/** Returns the report of a receiver check as JUnit XML for a CI: a test case per case, with advice in its output. */
export function junitText({ url, cases }: ReceiverReport): string {
  const tests = cases.map(({ id, title, findings, milliseconds, ...rest }) => ({
    ...rest,
    className: 'webhook.receiver',
    name: `${id}: ${title}`,
    findings: findings.map(({ text }) => text),
    milliseconds,
  }))
  return junitOf('refcheck webhook check-receiver', url, tests)
}

/** Returns the report of `sandbox conformance` as JUnit XML. */
export function conformanceJunit({ base_url, cases }: ConformanceAnswer): string {
  const tests = cases.map(({ id, section, rule, verdict, findings, advice, reason }) => {
    const passed = advice.length > 0 ? ('advised' as const) : ('passed' as const)
    return {
      className: `conformance.${id.split('.')[0]}`,
      name: `${id}: ${section}`,
      verdict: { holds: passed, broken: 'failed' as const, not_judged: 'not_judged' as const }[verdict],
      rule,
      findings: [...findings, ...advice.map((line) => `advice: ${line}`)],
      reason,
    }
  })
  return junitOf('refcheck sandbox conformance', base_url, tests)
}

interface JunitTest {
  className: string
  name: string
  verdict: Verdict
  /** The rule, quoted from the API document. */
  rule: string
  findings: readonly string[]
  /** Reason why the test was not judged; null if it was judged. */
  reason: string | null
  /** The duration; undefined if it was not measured. */
  milliseconds?: number
}

function junitOf(name: string, suite: string, tests: readonly JunitTest[]): string {
  const count = (verdict: Verdict): number => tests.filter((each) => each.verdict === verdict).length
  const time = (milliseconds: number | undefined): string =>
    milliseconds === undefined ? '' : ` time="${(milliseconds / 1000).toFixed(3)}"`
  const total = tests.some(({ milliseconds }) => milliseconds !== undefined)
    ? tests.reduce((sum, { milliseconds = 0 }) => sum + milliseconds, 0)
    : undefined
  const numbers = `tests="${tests.length}" failures="${count('failed')}" errors="0" skipped="${count('not_judged')}"${time(total)}`
  const bodies = tests.map((each) => {
    const head = `    <testcase classname="${xml(each.className)}" name="${xml(each.name)}"${time(each.milliseconds)}`
    const inner = junitBody(each)
    return inner === '' ? `${head}/>` : `${head}>\n      ${inner}\n    </testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${numbers}>`,
    `  <testsuite name="${xml(suite)}" ${numbers}>`,
    ...bodies,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function junitBody({ verdict, findings, reason, rule }: JunitTest): string {
  const texts = xml([`"${rule}"`, ...findings.map((text) => `- ${text}`)].join('\n'))
  if (verdict === 'failed') {
    return `<failure type="rule" message="${xml(findings[0] ?? '')}">${texts}</failure>`
  }
  if (verdict === 'not_judged') return `<skipped message="${xml(reason ?? '')}"/>`
  return verdict === 'advised' ? `<system-out>${texts}</system-out>` : ''
}

/**
 * Escapes a text for XML. `sanitize` removes the control characters that XML 1.0 does not allow. Line breaks
 * are preserved.
 */
function xml(text: string): string {
  return escapeXml(
    sanitize(text, { keepsLines: true })
      .toWellFormed()
      .replace(/[\uFFFE\uFFFF]/g, '\uFFFD'),
  )
}
