import { localTime } from '../../domain/wording/local-time.ts'
import { sanitize } from '../../host/text.ts'
import type { ListView, View } from '../view.ts'

/** What a running sandbox tells of itself; times are milliseconds since the epoch. */
export interface SandboxState {
  now: number
  clock: string
  requests: Record<string, number>
  deliveries: { waiting: number; delivered: number; given_up: number }
  quota: { calls: number; seconds: number; used: number }[]
}

export function sandboxStateView(state: SandboxState): View {
  return {
    json: state,
    text: () => {
      const { requests, deliveries, quota } = state
      const some = Object.entries(requests).filter(([, count]) => count > 0)
      return [
        `time        ${localTime(state.now)} (${sanitize(state.clock)} clock)`,
        `requests    ${some.map(([status, count]) => `${count} ${status}`).join(', ') || 'none'}`,
        `deliveries  ${deliveries.delivered} delivered, ${deliveries.waiting} waiting, ${deliveries.given_up} given up`,
        `quota       ${quota.map(({ used, calls, seconds }) => `${used} of ${calls} in ${seconds} s`).join(', ')}`,
      ].join('\n')
    },
  }
}

export interface ScenarioRow {
  tag: string
  changes: string
  what: string
}

export function scenariosView(scenarios: readonly ScenarioRow[]): ListView<ScenarioRow> {
  return {
    rows: scenarios,
    columns: [
      { name: 'tag', value: (row) => row.tag, show: (row) => `+${row.tag}` },
      { name: 'changes', value: (row) => row.changes },
      { name: 'what', value: (row) => row.what },
    ],
    empty: 'No scenarios.',
  }
}

export interface RuleRow {
  name: string
  section: string
  sentence: string
  open: string
  choices: readonly string[]
  current: string
}

export function rulesView(rules: readonly RuleRow[]): ListView<RuleRow> {
  return {
    rows: rules,
    columns: [
      { name: 'name', value: (row) => row.name },
      { name: 'current', value: (row) => row.current },
      { name: 'choices', value: (row) => row.choices.join(' | ') },
      { name: 'open', value: (row) => row.open },
      { name: 'section', value: (row) => row.section, extra: true },
      { name: 'sentence', value: (row) => row.sentence, extra: true },
    ],
    empty: 'No rules.',
  }
}
