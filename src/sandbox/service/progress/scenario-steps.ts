import type { CheckRecord, Step } from '../records.ts'
import type { Choices } from '../rules.ts'
import { inOrder, longest, minute } from './steps.ts'

type Checks = readonly CheckRecord[]
type Shape = (steps: Step[], checks: Checks, rules: Choices) => Step[]

const day = 24 * 60 * minute

/** How each scenario bends the usual course. */
const shapes: Record<string, Shape> = {
  declined: (steps, checks) => abandon(steps, checks, 12 * minute),
  stopped: (steps, checks) => abandon(steps, checks, 13 * minute),
  deleted: (steps, checks) => abandon(steps, checks, 11 * minute),
  expired: (steps, checks) => abandon(steps, checks, longest),
  mixed: (steps, checks) =>
    checks.length < 2 ? steps : finishAs('CANCELLED', lastBackground(checks), steps, checks),
  'check-error': (steps, checks) =>
    checks.length < 2 ? steps : finishAs('ERROR', lastBackground(checks), steps, checks),
  'all-errors': (steps, checks) =>
    checks.reduce((bent, _check, index) => finishAs('ERROR', index, bent, checks), steps),
  error: (steps, _checks, rules) => failed(steps, rules),
  'no-referees': (steps, checks) => withoutReferees(steps, checks),
  'slow-referees': (steps, checks) =>
    steps.map((step) =>
      isOfReferences(step, checks) && !starts(step) && step.does !== 'nominate'
        ? { ...step, at: step.at + 3 * day }
        : step,
    ),
  'referee-cancelled': (steps, checks) => cancelLastReferee(steps, checks),
  'report-never': (steps) => steps.filter((step) => step.does !== 'report'),
  'report-later': (steps) =>
    steps.map((step) => (step.does === 'report' ? { ...step, at: step.at + 30 * minute } : step)),
  stuck: () => [],
  stalled: (steps) => steps.filter((step) => starts(step) || step.does === 'nominate'),
  instant: (steps) => steps.map((step) => ({ ...step, at: Math.round(step.at / 1000) })),
}

/** The course under a scenario; scenarios that are about something else leave it as it is. */
export function scenarioSteps(scenario: string, steps: Step[], checks: Checks, rules: Choices): Step[] {
  const shape = shapes[scenario]
  return shape === undefined ? steps : inOrder(shape(steps, checks, rules))
}

function starts(step: Step): boolean {
  return step.does === 'check' && step.status === 'IN_PROGRESS'
}

function isOfReferences(step: Step, checks: Checks): boolean {
  return step.does !== 'fail' && checks[step.check]?.type === 'reference'
}

/** What has begun by `at` is cancelled then, and so is what has not. */
function abandon(steps: Step[], checks: Checks, at: number): Step[] {
  const begun = steps.filter((step) => step.at < at && (starts(step) || step.does === 'nominate'))
  const ends = checks.flatMap((_check, check): Step[] => {
    const nominated = begun.filter((step) => step.does === 'nominate' && step.check === check)
    return [
      ...nominated.map((_step, referee): Step => ({
        at,
        does: 'referee',
        check,
        referee,
        status: 'CANCELLED',
      })),
      { at, does: 'check', check, status: 'CANCELLED' },
    ]
  })
  return [...begun, ...ends]
}

function lastBackground(checks: Checks): number {
  const last = checks.findLastIndex(({ type }) => type === 'background')
  return last === -1 ? checks.length - 1 : last
}

/** A check that ends otherwise than COMPLETED leaves no report, and its referees are cancelled. */
function finishAs(status: 'CANCELLED' | 'ERROR', check: number, steps: Step[], checks: Checks): Step[] {
  return steps.flatMap((step): Step[] => {
    if (step.does === 'fail' || step.check !== check) return [step]
    if (step.does === 'report') return []
    if (step.does === 'referee') return [{ ...step, status: 'CANCELLED' }]
    return step.does === 'check' && !starts(step) && checks[check] !== undefined
      ? [{ ...step, status }]
      : [step]
  })
}

const reasons: Record<Choices['error-reason-form'], string> = {
  sentence: 'The provider did not accept the request.',
  code: 'PARTNER_REJECTED',
  lines: 'The provider did not accept the request.\n  partner: Verity Checks\n  attempt: 3 of 3\n',
}

function failed(steps: Step[], rules: Choices): Step[] {
  const first = steps.find(starts)
  const at = first?.at ?? 2 * minute
  const begun: Step[] =
    rules['error-from'] === 'RECEIVED' || first === undefined || first.does !== 'check'
      ? []
      : [{ ...first, uncreated: true }]
  return [
    ...begun,
    {
      at: at + minute,
      does: 'fail',
      reason: reasons[rules['error-reason-form']],
      checks: rules['error-checks'] === 'null-ids' ? 'kept' : 'dropped',
    },
  ]
}

function withoutReferees(steps: Step[], checks: Checks): Step[] {
  return steps.flatMap((step): Step[] => {
    if (!isOfReferences(step, checks) || starts(step)) return [step]
    return step.does === 'check' ? [{ ...step, at: longest, status: 'CANCELLED' }] : []
  })
}

/** The last referee never answers; with no other the check is cancelled too. */
function cancelLastReferee(steps: Step[], checks: Checks): Step[] {
  const check = checks.findIndex(({ type }) => type === 'reference')
  const count = steps.filter((step) => step.does === 'nominate' && step.check === check).length
  if (count === 1) return finishAs('CANCELLED', check, steps, checks)
  return steps.flatMap((step): Step[] => {
    const ofLast =
      (step.does === 'referee' || step.does === 'report') &&
      step.check === check &&
      step.referee === count - 1
    if (!ofLast) return [step]
    return step.does === 'referee' ? [{ ...step, status: 'CANCELLED' }] : []
  })
}
