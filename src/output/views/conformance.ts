import { sanitize } from '../../host/text.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

export interface ConformanceAnswer {
  base_url: string
  counts: { cases: number; holds: number; broken: number; not_judged: number; advised: number }
  cases: readonly JudgedCase[]
  cannot_be_judged: readonly { section: string; rule: string; reason: string }[]
}

interface JudgedCase {
  id: string
  section: string
  rule: string
  verdict: 'holds' | 'broken' | 'not_judged'
  findings: readonly string[]
  advice: readonly string[]
  reason: string | null
}

/** Broken rules with what was found, those not judged by their reason, and the sum. */
export function conformanceView(report: ConformanceAnswer): View {
  return {
    json: report,
    text: (terminal) =>
      [
        ...brokenText(report, terminal),
        ...adviceText(report, terminal),
        ...notJudgedText(report, terminal),
        ...invisibleText(report, terminal),
        sumText(report, terminal),
      ].join('\n'),
  }
}

function brokenText({ cases }: ConformanceAnswer, terminal: Terminal): string[] {
  return cases
    .filter(({ verdict }) => verdict === 'broken')
    .map(({ id, section, rule, findings }) => {
      const head = `${styled(terminal, 'red', 'broken')}  ${styled(terminal, 'bold', id)}  ${section}`
      const found = findings.map((finding) => `  - ${sanitize(finding)}\n`).join('')
      return `${head}\n  "${rule}"\n${found}`
    })
}

function adviceText({ cases }: ConformanceAnswer, terminal: Terminal): string[] {
  return cases
    .filter(({ advice }) => advice.length > 0)
    .map(({ id, section, rule, advice }) => {
      const head = `${styled(terminal, 'yellow', 'advice')}  ${styled(terminal, 'bold', id)}  ${section}`
      const told = advice.map((line) => `  - ${sanitize(line)}\n`).join('')
      return `${head}\n  "${rule}"\n${told}`
    })
}

/** Told after a whole run; a part of it is about something else. */
function invisibleText({ cases, cannot_be_judged: all }: ConformanceAnswer, terminal: Terminal): string[] {
  if (cases.length < 50) return []
  const lines = all.map(({ rule, reason }) => `  "${rule}"\n    ${reason}`)
  return [styled(terminal, 'dim', 'cannot be judged from outside'), ...lines, '']
}

function notJudgedText({ cases }: ConformanceAnswer, terminal: Terminal): string[] {
  const byReason = new Map<string, string[]>()
  for (const { id, verdict, reason } of cases) {
    if (verdict !== 'not_judged') continue
    const ids = byReason.get(reason ?? '') ?? []
    byReason.set(reason ?? '', [...ids, id])
  }
  return [...byReason].flatMap(([reason, ids]) => [
    `${styled(terminal, 'yellow', 'not judged')}  ${sanitize(reason)}`,
    `  ${ids.join(', ')}`,
    '',
  ])
}

function sumText({ base_url, counts }: ConformanceAnswer, terminal: Terminal): string {
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
