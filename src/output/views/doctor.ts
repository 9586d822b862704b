import type { Finding, Level } from '../../domain/doctor/finding.ts'
import { sanitize } from '../../host/text.ts'
import { indented } from '../indented.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

const styles: Readonly<Record<Level, Style>> = { ok: 'green', warn: 'yellow', fail: 'red' }
const widestCheck = 12
const indent = ' '.repeat(6 + widestCheck + 2)

/** A line for each thing looked at; below it what to do. `report`: the file that was written besides. */
export function doctorView(findings: readonly Finding[], report?: string): View {
  return {
    json: { checks: findings, ...(report !== undefined && { report }) },
    text: (terminal) => findings.map((finding) => findingText(finding, terminal)).join('\n'),
  }
}

function findingText({ check, level, message, hint }: Finding, terminal: Terminal): string {
  const head = `${styled(terminal, styles[level], level.padEnd(4))}  ${check.padEnd(widestCheck)}  `
  const below = (text: string): string => indented(sanitize(text), indent, terminal)
  return [head + below(message).trimStart(), ...(hint?.split('\n').map(below) ?? [])].join('\n')
}
