import type { RequestStatus } from '../../contract/statuses.ts'
import type { CheckRecord, PackageRecord, RefereeRecord, RequestRecord, Step } from './schemas.ts'
import type { Choices } from './rules.ts'
import type { RandomStream } from './seeded-random.ts'

const minute = 60_000

/** Time by which a request without a scenario has ended; the document promises an hour. */
const longest = 54 * minute

/** Sorts steps by time; the sort is stable, so that steps of the same time stay in order. */
export function inOrder(steps: readonly Step[]): Step[] {
  return [...steps].sort((left, right) => left.at - right.at)
}

/** Data on which the progress of a request depends. */
export interface ProgressPlan {
  pack: PackageRecord
  scenarios: readonly string[]
  dice: RandomStream
  rules: Choices
}

/** Plans a request: its checks, none of them started, and the steps of its progress. */
export function plan(course: ProgressPlan): Pick<RequestRecord, 'checks' | 'steps'> {
  const checks = plannedChecks(course)
  let steps = usualSteps(course, checks)
  for (const scenario of course.scenarios) steps = scenarioSteps(scenario, steps, checks, course.rules)
  return { checks, steps: inOrder(byRules(steps, course.rules)) }
}

/** Whether names are null ("string or null"), by the scenario `unnamed`. */
const isUnnamed = ({ scenarios }: ProgressPlan): boolean => scenarios.includes('unnamed')

function plannedChecks(course: ProgressPlan): CheckRecord[] {
  const { pack, dice } = course
  const checks: CheckRecord[] = []
  const add = (part: Pick<CheckRecord, 'type' | 'check_name' | 'partner_name'>): void => {
    checks.push({
      ...part,
      id: dice.uuid(),
      created: false,
      status: 'RECEIVED',
      report_at: null,
      referees: [],
    })
  }
  if (pack.reference_survey !== null) add({ type: 'reference', check_name: null, partner_name: null })
  const unnamed = isUnnamed(course) ? { check_name: null, partner_name: null } : {}
  for (const background of pack.background_checks) add({ type: 'background', ...background, ...unnamed })
  return checks
}

/**
 * Returns the steps without a scenario: checks start one after the other within minutes and complete one after the
 * other, the last within the hour. Referees are nominated and then answer.
 */
function usualSteps(course: ProgressPlan, checks: readonly CheckRecord[]): Step[] {
  const { dice } = course
  const finishes = finishTimes(checks.length, dice)
  const steps: Step[] = []
  let start = 0
  for (const [check, { type }] of checks.entries()) {
    const finish = finishes[check] ?? longest
    start += minutes(check === 0 ? dice.between(2, 4) : dice.between(0.5, 1.5))
    start = Math.min(start, finish)
    steps.push({ at: start, does: 'check', check, status: 'IN_PROGRESS' })
    if (type === 'reference') steps.push(...refereeSteps(course, check, start, finish))
    else steps.push({ at: finish, does: 'report', check, referee: null })
    steps.push({ at: finish, does: 'check', check, status: 'COMPLETED' })
  }
  return steps
}

/**
 * Returns the steps of referees: they are nominated one after the other within minutes, and the last one to answer
 * completes the check.
 */
function refereeSteps(course: ProgressPlan, check: number, start: number, finish: number): Step[] {
  const { dice } = course
  const referees = plannedReferees(course)
  const steps: Step[] = []
  let nominated = start
  for (const [referee, record] of referees.entries()) {
    nominated = Math.min(nominated + minutes(dice.between(0.3, 1)), finish)
    const isLast = referee === referees.length - 1
    const answered = isLast ? finish : Math.round(dice.between(nominated, finish))
    steps.push(
      { at: nominated, does: 'nominate', check, referee: record },
      { at: answered, does: 'referee', check, referee, status: 'COMPLETED' },
      { at: answered, does: 'report', check, referee },
    )
  }
  return steps
}

/** Returns a completion time per check, far enough apart for clients to see PARTIAL. */
function finishTimes(count: number, dice: RandomStream): number[] {
  const first = 14 * minute
  const slot = (longest - first) / count
  const times = Array.from({ length: count }, (_, index) =>
    Math.round(first + slot * (index + dice.between(0.3, 0.9))),
  )
  const turn = Math.floor(dice.fraction() * count)
  return [...times.slice(turn), ...times.slice(0, turn)]
}

const minutes = (count: number): number => Math.round(count * minute)

const firstNames = ['Remy', 'Robin', 'Casey', 'Jordan', 'Alexis', 'Morgan', 'Taylor', 'Quinn'] as const

function plannedReferees(course: ProgressPlan): RefereeRecord[] {
  const { pack, dice, rules } = course
  const count = Math.max(1, pack.reference_survey?.min_referees ?? 1)
  const first = 10 * Math.floor(dice.between(10_000, 100_000))
  return Array.from({ length: count }, (_, index) => {
    const name = dice.pick(firstNames)
    return {
      referee_id: rules['referee-id-form'] === 'digits' ? String(first + index) : dice.uuid(),
      referee_name: isUnnamed(course) ? null : `${name} Referee`,
      referee_email: isUnnamed(course) ? null : `${name.toLowerCase()}.referee.${index + 1}@example.com`,
      status: 'IN_PROGRESS',
      report_at: null,
    }
  })
}

/** Applies the rules that the document leaves open to the steps of a request. */
function byRules(steps: Step[], rules: Choices): Step[] {
  let ruled = steps
  if (rules['leaving-received'] === 'at-once') {
    const end = Math.max(0, ...steps.map(({ at }) => at))
    ruled = ruled.map((step) => ({ ...step, at: end }))
  }
  if (rules['report-ready'] === 'later') {
    ruled = ruled.map((step) => (step.does === 'report' ? { ...step, at: step.at + 4 * minute } : step))
  }
  return ruled
}

type Checks = readonly CheckRecord[]
type Shape = (steps: Step[], checks: Checks, rules: Choices) => Step[]

const day = 24 * 60 * minute

/** The change of the usual steps by each scenario. */
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

/** Applies a scenario to the steps; scenarios of other kinds do not change them. */
function scenarioSteps(scenario: string, steps: Step[], checks: Checks, rules: Choices): Step[] {
  const shape = shapes[scenario]
  return shape === undefined ? steps : inOrder(shape(steps, checks, rules))
}

function starts(step: Step): boolean {
  return step.does === 'check' && step.status === 'IN_PROGRESS'
}

function isOfReferences(step: Step, checks: Checks): boolean {
  return step.does !== 'fail' && checks[step.check]?.type === 'reference'
}

/** Cancels all checks and nominated referees at the time `at`. */
function abandon(steps: Step[], checks: Checks, at: number): Step[] {
  const started = steps.filter((step) => step.at < at && (starts(step) || step.does === 'nominate'))
  const ends = checks.flatMap((_check, check): Step[] => {
    const nominated = started.filter((step) => step.does === 'nominate' && step.check === check)
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
  return [...started, ...ends]
}

function lastBackground(checks: Checks): number {
  const last = checks.findLastIndex(({ type }) => type === 'background')
  return last === -1 ? checks.length - 1 : last
}

/** Ends a check with CANCELLED or ERROR: it has no report, and its referees are cancelled. */
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
  const started: Step[] =
    rules['error-from'] === 'RECEIVED' || first === undefined || first.does !== 'check'
      ? []
      : [{ ...first, uncreated: true }]
  return [
    ...started,
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

/** Cancels the last referee, and the check if it has no other. */
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

/** Returns the milliseconds of progress after which the next step is due; undefined if there is none. */
export function nextStepAt(request: RequestRecord): number | undefined {
  return request.steps[request.applied]?.at
}

/**
 * Performs all steps that are due after `elapsed` milliseconds of progress; steps of the same time are performed
 * together. `timeOf` converts the time of a step to that of the clock. Returns the overall statuses that the request
 * had, oldest first.
 */
export function progress(
  request: RequestRecord,
  elapsed: number,
  timeOf: (at: number) => number,
): RequestStatus[] {
  const changes: RequestStatus[] = []
  for (let step = request.steps[request.applied]; step !== undefined && step.at <= elapsed;) {
    perform(request, step, timeOf(step.at))
    request.applied += 1
    const following = request.steps[request.applied]
    if (following?.at !== step.at) {
      const status = overallStatus(request)
      if (status !== request.status) changes.push(status)
      request.status = status
    }
    step = following
  }
  if (request.applied === request.steps.length) {
    request.steps = []
    request.applied = 0
  }
  return changes
}

function perform(request: RequestRecord, step: Step, time: number): void {
  if (step.does === 'fail') {
    fail(request, step)
    return
  }
  const check = request.checks[step.check]
  if (check === undefined) return
  switch (step.does) {
    case 'check':
      check.status = step.status
      check.created = step.uncreated !== true
      return
    case 'nominate':
      check.referees.push({ ...step.referee })
      return
    case 'referee': {
      const referee = check.referees[step.referee]
      if (referee !== undefined) referee.status = step.status
      return
    }
    case 'report': {
      const target = step.referee === null ? check : check.referees[step.referee]
      if (target !== undefined) target.report_at = time
    }
  }
}

/** "ERROR: the request could not be processed and no checks were created." */
function fail(request: RequestRecord, step: Step & { does: 'fail' }): void {
  request.error_reason = step.reason
  if (step.checks === 'dropped') request.checks = []
  for (const check of request.checks) {
    check.status = 'ERROR'
    check.created = false
  }
}

/** Returns the overall status by the definitions in "Request status". */
function overallStatus(request: RequestRecord): RequestStatus {
  if (request.error_reason !== null) return 'ERROR'
  const statuses = request.checks.map((check) => check.status)
  const running = statuses.some((status) => status === 'IN_PROGRESS' || status === 'RECEIVED')
  if (statuses.includes('COMPLETED')) return running ? 'PARTIAL' : 'COMPLETED'
  if (!running) return 'CANCELLED'
  return statuses.every((status) => status === 'RECEIVED') ? 'RECEIVED' : 'IN_PROGRESS'
}
