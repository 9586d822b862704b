import type { RequestStatus } from '../../contract/statuses.ts'
import type { CheckRecord, PackageRecord, RefereeRecord, RequestRecord, Step } from './schemas.ts'
import type { Choices } from './rules.ts'
import type { RandomStream } from './seeded-random.ts'

const minuteMs = 60_000

/** Milliseconds after which a request without a scenario has ended. The document promises an hour. */
const maxDurationMs = 54 * minuteMs

/** Returns the steps sorted by time. The sort is stable, so steps of the same time stay in order. */
export function sortSteps(steps: readonly Step[]): Step[] {
  return [...steps].sort((left, right) => left.at - right.at)
}

/** Data on which the progress of a request depends. */
export interface ProgressPlan {
  pack: PackageRecord
  /** Names of scenarios, in the order in which they change the steps. */
  scenarios: readonly string[]
  random: RandomStream
  rules: Choices
}

/** Plans a request: its checks, none of them started, and the steps of its progress. */
export function planProgress(plan: ProgressPlan): Pick<RequestRecord, 'checks' | 'steps'> {
  const checks = planChecks(plan)
  let steps = planUsualSteps(plan, checks)
  for (const scenario of plan.scenarios) steps = applyScenario(scenario, steps, checks, plan.rules)
  return { checks, steps: sortSteps(applyRules(steps, plan.rules)) }
}

/** Whether names are null ("string or null"), by the scenario `unnamed`. */
const isUnnamed = ({ scenarios }: ProgressPlan): boolean => scenarios.includes('unnamed')

function planChecks(plan: ProgressPlan): CheckRecord[] {
  const { pack, random } = plan
  const unnamed = { check_name: null, partner_name: null }
  const toCheck = (
    type: CheckRecord['type'],
    names: PackageRecord['background_checks'][number],
  ): CheckRecord => ({
    type,
    ...names,
    id: random.uuid(),
    created: false,
    status: 'RECEIVED',
    report_at: null,
    referees: [],
  })
  return [
    ...(pack.reference_survey === null ? [] : [toCheck('reference', unnamed)]),
    ...pack.background_checks.map((names) => toCheck('background', isUnnamed(plan) ? unnamed : names)),
  ]
}

/**
 * Returns the steps without a scenario: checks start one after the other within minutes and complete one after the
 * other, the last within the hour. Referees are nominated and then answer. In a step, `check` and `referee` are
 * indexes.
 */
function planUsualSteps(plan: ProgressPlan, checks: readonly CheckRecord[]): Step[] {
  const { random } = plan
  const finishTimes = drawFinishTimes(checks.length, random)
  const steps: Step[] = []
  let start = 0
  for (const [check, { type }] of checks.entries()) {
    const finish = finishTimes[check] ?? maxDurationMs
    start += minutesToMs(check === 0 ? random.between(2, 4) : random.between(0.5, 1.5))
    start = Math.min(start, finish)
    steps.push({ at: start, does: 'check', check, status: 'IN_PROGRESS' })
    if (type === 'reference') steps.push(...planRefereeSteps(plan, check, start, finish))
    else steps.push({ at: finish, does: 'report', check, referee: null })
    steps.push({ at: finish, does: 'check', check, status: 'COMPLETED' })
  }
  return steps
}

/**
 * Returns the steps of referees: they are nominated one after the other within minutes, and the last one to answer
 * completes the check.
 */
function planRefereeSteps(plan: ProgressPlan, check: number, start: number, finish: number): Step[] {
  const { random } = plan
  const referees = planReferees(plan)
  const steps: Step[] = []
  let nominatedAt = start
  for (const [referee, refereeRecord] of referees.entries()) {
    nominatedAt = Math.min(nominatedAt + minutesToMs(random.between(0.3, 1)), finish)
    const isLast = referee === referees.length - 1
    const answeredAt = isLast ? finish : Math.round(random.between(nominatedAt, finish))
    steps.push(
      { at: nominatedAt, does: 'nominate', check, referee: refereeRecord },
      { at: answeredAt, does: 'referee', check, referee, status: 'COMPLETED' },
      { at: answeredAt, does: 'report', check, referee },
    )
  }
  return steps
}

/** Returns a completion time per check, far enough apart for clients to see PARTIAL. */
function drawFinishTimes(count: number, random: RandomStream): number[] {
  const earliestTime = 14 * minuteMs
  const slotMs = (maxDurationMs - earliestTime) / count
  const times = Array.from({ length: count }, (_, index) =>
    Math.round(earliestTime + slotMs * (index + random.between(0.3, 0.9))),
  )
  const rotation = Math.floor(random.fraction() * count)
  return [...times.slice(rotation), ...times.slice(0, rotation)]
}

const minutesToMs = (count: number): number => Math.round(count * minuteMs)

const firstNames = ['Remy', 'Robin', 'Casey', 'Jordan', 'Alexis', 'Morgan', 'Taylor', 'Quinn'] as const

function planReferees(plan: ProgressPlan): RefereeRecord[] {
  const { pack, random, rules } = plan
  const count = Math.max(1, pack.reference_survey?.min_referees ?? 1)
  const firstId = 10 * Math.floor(random.between(10_000, 100_000))
  return Array.from({ length: count }, (_, index) => {
    const name = random.pick(firstNames)
    return {
      referee_id: rules['referee-id-form'] === 'digits' ? String(firstId + index) : random.uuid(),
      referee_name: isUnnamed(plan) ? null : `${name} Referee`,
      referee_email: isUnnamed(plan) ? null : `${name.toLowerCase()}.referee.${index + 1}@example.com`,
      status: 'IN_PROGRESS',
      report_at: null,
    }
  })
}

/** Applies the rules that the document leaves open to the steps of a request. */
function applyRules(steps: Step[], rules: Choices): Step[] {
  const end = Math.max(0, ...steps.map(({ at }) => at))
  const timedSteps =
    rules['leaving-received'] === 'at-once' ? steps.map((step) => ({ ...step, at: end })) : steps
  return rules['report-ready'] === 'later' ? delay(timedSteps, isReport, 4 * minuteMs) : timedSteps
}

/** Returns the steps, of which those for which `isDelayed` returns true are `ms` later. */
function delay(steps: readonly Step[], isDelayed: (step: Step) => boolean, ms: number): Step[] {
  return steps.map((step) => (isDelayed(step) ? { ...step, at: step.at + ms } : step))
}

type Checks = readonly CheckRecord[]
type StepChange = (steps: Step[], checks: Checks, rules: Choices) => Step[]

/** Makes the change of a scenario in which all checks and nominated referees are cancelled at the time `at`. */
const cancelAllAt =
  (at: number): StepChange =>
  (steps, checks) => {
    const startedSteps = steps.filter((step) => step.at < at && (isStart(step) || isNomination(step)))
    const cancelSteps = checks.flatMap((_check, check): Step[] => [
      ...startedSteps
        .filter((step) => step.does === 'nominate' && step.check === check)
        .map((_step, referee): Step => ({ at, does: 'referee', check, referee, status: 'CANCELLED' })),
      { at, does: 'check', check, status: 'CANCELLED' },
    ])
    return [...startedSteps, ...cancelSteps]
  }

/** Makes the change of a scenario in which the last background check ends differently from the others. */
const endOneAs =
  (status: 'CANCELLED' | 'ERROR'): StepChange =>
  (steps, checks) => {
    if (checks.length < 2) return steps
    const last = checks.findLastIndex(({ type }) => type === 'background')
    return endCheckAs(status, last === -1 ? checks.length - 1 : last, steps)
  }

const dayMs = 24 * 60 * minuteMs

/** The functions by which each scenario changes the usual steps. */
const stepChangeByScenario: Record<string, StepChange> = {
  declined: cancelAllAt(12 * minuteMs),
  stopped: cancelAllAt(13 * minuteMs),
  deleted: cancelAllAt(11 * minuteMs),
  expired: cancelAllAt(maxDurationMs),
  mixed: endOneAs('CANCELLED'),
  'check-error': endOneAs('ERROR'),
  'all-errors': (steps, checks) =>
    checks.reduce((changedSteps, _check, index) => endCheckAs('ERROR', index, changedSteps), steps),
  error: (steps, _checks, rules) => failRequest(steps, rules),
  'no-referees': removeReferees,
  'slow-referees': (steps, checks) =>
    delay(
      steps,
      (step) => isAboutReferenceCheck(step, checks) && !isStart(step) && !isNomination(step),
      3 * dayMs,
    ),
  'referee-cancelled': cancelLastReferee,
  'report-never': (steps) => steps.filter((step) => !isReport(step)),
  'report-later': (steps) => delay(steps, isReport, 30 * minuteMs),
  stuck: () => [],
  stalled: (steps) => steps.filter((step) => isStart(step) || isNomination(step)),
  instant: (steps) => steps.map((step) => ({ ...step, at: Math.round(step.at / 1000) })),
}

/** Applies a scenario to the steps. Scenarios of other kinds do not change them. */
function applyScenario(scenario: string, steps: Step[], checks: Checks, rules: Choices): Step[] {
  const change = stepChangeByScenario[scenario]
  return change === undefined ? steps : sortSteps(change(steps, checks, rules))
}

function isStart(step: Step): boolean {
  return step.does === 'check' && step.status === 'IN_PROGRESS'
}

const isNomination = ({ does }: Step): boolean => does === 'nominate'
const isReport = ({ does }: Step): boolean => does === 'report'

/** Whether a step is about a check of the type `reference`. */
function isAboutReferenceCheck(step: Step, checks: Checks): boolean {
  return step.does !== 'fail' && checks[step.check]?.type === 'reference'
}

/** Ends a check with CANCELLED or ERROR: it has no report, and its referees are cancelled. */
function endCheckAs(status: 'CANCELLED' | 'ERROR', check: number, steps: Step[]): Step[] {
  return steps.flatMap((step): Step[] => {
    if (step.does === 'fail' || step.check !== check) return [step]
    if (step.does === 'report') return []
    if (step.does === 'referee') return [{ ...step, status: 'CANCELLED' }]
    return step.does === 'check' && !isStart(step) ? [{ ...step, status }] : [step]
  })
}

const errorReasons: Record<Choices['error-reason-form'], string> = {
  sentence: 'The provider did not accept the request.',
  code: 'PARTNER_REJECTED',
  lines: 'The provider did not accept the request.\n  partner: Verity Checks\n  attempt: 3 of 3\n',
}

/** Returns steps that end the request with ERROR, a minute after the time at which its first check starts. */
function failRequest(steps: Step[], rules: Choices): Step[] {
  const startStep = steps.find(isStart)
  const at = startStep?.at ?? 2 * minuteMs
  return [
    ...(rules['error-from'] === 'RECEIVED' || startStep?.does !== 'check'
      ? []
      : [{ ...startStep, uncreated: true as const }]),
    {
      at: at + minuteMs,
      does: 'fail',
      reason: errorReasons[rules['error-reason-form']],
      checks: rules['error-checks'] === 'null-ids' ? 'kept' : 'dropped',
    },
  ]
}

/** Returns the steps without referees: the check of references is cancelled when the time for it is over. */
function removeReferees(steps: Step[], checks: Checks): Step[] {
  return steps.flatMap((step): Step[] => {
    if (!isAboutReferenceCheck(step, checks) || isStart(step)) return [step]
    return step.does === 'check' ? [{ ...step, at: maxDurationMs, status: 'CANCELLED' }] : []
  })
}

/** Cancels the last referee, and also the check if it has no other referee. */
function cancelLastReferee(steps: Step[], checks: Checks): Step[] {
  const check = checks.findIndex(({ type }) => type === 'reference')
  const count = steps.filter((step) => step.does === 'nominate' && step.check === check).length
  if (count === 1) return endCheckAs('CANCELLED', check, steps)
  return steps.flatMap((step): Step[] => {
    if ((step.does !== 'referee' && step.does !== 'report') || step.check !== check) return [step]
    if (step.referee !== count - 1) return [step]
    return step.does === 'referee' ? [{ ...step, status: 'CANCELLED' }] : []
  })
}

/** Returns the time of the next step, in milliseconds of progress since the creation; undefined if there is none. */
export function findNextStepMs(request: RequestRecord): number | undefined {
  return request.steps[request.applied]?.at
}

/**
 * Performs all steps that are due after `elapsedMs` milliseconds of progress; steps of the same time are performed
 * together. `toClockTime` converts the time of a step to the time of the clock. Returns the overall statuses that the
 * request had, oldest first.
 */
export function performDueSteps(
  request: RequestRecord,
  elapsedMs: number,
  toClockTime: (at: number) => number,
): RequestStatus[] {
  const changes: RequestStatus[] = []
  for (const step of request.steps.slice(request.applied)) {
    if (step.at > elapsedMs) break
    performStep(request, step, toClockTime(step.at))
    request.applied += 1
    if (findNextStepMs(request) === step.at) continue
    const status = findOverallStatus(request)
    if (status !== request.status) changes.push(status)
    request.status = status
  }
  if (request.applied === request.steps.length) {
    request.steps = []
    request.applied = 0
  }
  return changes
}

function performStep(request: RequestRecord, step: Step, time: number): void {
  if (step.does === 'fail') {
    performFailure(request, step)
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

/** Ends a request with the status ERROR: "the request could not be processed and no checks were created". */
function performFailure(request: RequestRecord, step: Step & { does: 'fail' }): void {
  request.error_reason = step.reason
  if (step.checks === 'dropped') request.checks = []
  for (const check of request.checks) {
    check.status = 'ERROR'
    check.created = false
  }
}

/** Returns the overall status by the definitions in "Request status". */
function findOverallStatus(request: RequestRecord): RequestStatus {
  if (request.error_reason !== null) return 'ERROR'
  const statuses = request.checks.map((check) => check.status)
  const isRunning = statuses.some((status) => status === 'IN_PROGRESS' || status === 'RECEIVED')
  if (statuses.includes('COMPLETED')) return isRunning ? 'PARTIAL' : 'COMPLETED'
  if (!isRunning) return 'CANCELLED'
  return statuses.every((status) => status === 'RECEIVED') ? 'RECEIVED' : 'IN_PROGRESS'
}
