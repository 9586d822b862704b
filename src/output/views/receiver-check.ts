import type { CaseReport, ReceiverReport, Verdict } from '../../domain/webhook/receiver-check.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { escapeXml } from '../../domain/wording/escape-xml.ts'
import { sanitize } from '../../host/text.ts'
import { indented } from '../indented.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

const styles: Readonly<Record<Verdict, Style>> = {
  passed: 'green',
  advised: 'yellow',
  failed: 'red',
  not_judged: 'dim',
}

/**
 * Every case by a line; with its rule and what the receiver did where that is not as it should be.
 * What was not judged follows by its reason.
 */
export function receiverCheckView(report: ReceiverReport): View {
  return {
    json: report,
    text: (terminal) => {
      const judged = report.cases.filter(({ verdict }) => verdict !== 'not_judged')
      const cases = judged.map((each) => caseText(each, terminal))
      return [...cases, ...notJudgedText(report.cases, terminal), '', sum(report, terminal)].join('\n')
    },
  }
}

function caseText({ id, title, rule, verdict, findings }: CaseReport, terminal: Terminal): string {
  const word = { passed: 'passed', advised: 'advice', failed: 'FAILED', not_judged: '' }[verdict]
  const head = `${styled(terminal, styles[verdict], word)}  ${id}  ${styled(terminal, 'dim', title)}`
  if (findings.length === 0) return head
  const told = [`"${rule}"`, ...findings.map(({ text }) => `- ${sanitize(text)}`)]
  return [head, ...told.map((text) => indented(text, indent, terminal))].join('\n')
}

const indent = ' '.repeat(8)

function notJudgedText(cases: readonly CaseReport[], terminal: Terminal): string[] {
  const byReason = Map.groupBy(
    cases.filter(({ reason }) => reason !== null),
    ({ reason }) => reason,
  )
  return [...byReason].flatMap(([reason, some]) => [
    `${styled(terminal, 'yellow', 'not judged')}  ${sanitize(reason ?? '')}`,
    indented(some.map(({ id }) => id).join(', '), indent, terminal),
  ])
}

function sum({ counts, passed, deliveries, slowest_ms, url }: ReceiverReport, terminal: Terminal): string {
  const verdict = passed ? styled(terminal, 'green', 'passed') : styled(terminal, 'red', 'failed')
  const parts = [
    `${counts.passed} passed`,
    `${counts.advised} with advice`,
    `${counts.failed} failed`,
    `${counts.not_judged} not judged`,
  ]
  const slowest =
    slowest_ms === null ? 'nothing was accepted' : `the slowest acceptance took ${slowest_ms} ms`
  return `${verdict}  ${sanitize(url)}: ${parts.join(', ')}. ${countInWords(deliveries, 'delivery', 'deliveries')}; ${slowest}.`
}

/** The report as JUnit XML, for a CI that shows it: a test case each, advice in its output. */
export function junitText({ url, counts, cases }: ReceiverReport): string {
  const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3)
  const total = cases.reduce((sum_, { milliseconds }) => sum_ + milliseconds, 0)
  const numbers = `tests="${counts.cases}" failures="${counts.failed}" errors="0" skipped="${counts.not_judged}" time="${seconds(total)}"`
  const bodies = cases.map((each) => {
    const head = `    <testcase classname="webhook.receiver" name="${xml(each.id)}: ${xml(each.title)}" time="${seconds(each.milliseconds)}"`
    const inner = junitBody(each)
    return inner === '' ? `${head}/>` : `${head}>\n      ${inner}\n    </testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="refcheck webhook check-receiver" ${numbers}>`,
    `  <testsuite name="${xml(url)}" ${numbers}>`,
    ...bodies,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function junitBody({ verdict, findings, reason, rule }: CaseReport): string {
  const texts = xml([`"${rule}"`, ...findings.map(({ text }) => `- ${text}`)].join('\n'))
  if (verdict === 'failed') {
    return `<failure type="rule" message="${xml(findings[0]?.text ?? '')}">${texts}</failure>`
  }
  if (verdict === 'not_judged') return `<skipped message="${xml(reason ?? '')}"/>`
  return verdict === 'advised' ? `<system-out>${texts}</system-out>` : ''
}

/** What XML 1.0 cannot hold has gone with `sanitize`; lines stay. */
function xml(text: string): string {
  return escapeXml(
    sanitize(text, { lines: true })
      .toWellFormed()
      .replace(/[\uFFFE\uFFFF]/g, '\uFFFD'),
  )
}
