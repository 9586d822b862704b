import type { RandomStream } from '../seeded-random.ts'
import type { CheckRecord, PackageRecord, RefereeRecord, RequestRecord, Step } from '../records.ts'
import type { Choices } from '../rules.ts'
import { scenarioSteps } from './scenario-steps.ts'
import { inOrder, longest, minute } from './steps.ts'

/** What a request's course depends on. */
export interface ProgressPlan {
  pack: PackageRecord
  scenarios: readonly string[]
  dice: RandomStream
  rules: Choices
}

/** The checks of a request, none of them begun, and what will become of them. */
export function plan(course: ProgressPlan): Pick<RequestRecord, 'checks' | 'steps'> {
  const checks = plannedChecks(course)
  let steps = usualSteps(course, checks)
  for (const scenario of course.scenarios) steps = scenarioSteps(scenario, steps, checks, course.rules)
  return { checks, steps: inOrder(byRules(steps, course.rules)) }
}

/** "string or null": the scenario that shows the null. */
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
 * The undisturbed course: checks start one after the other within minutes, complete one after the
 * other, the last within the hour; referees are nominated, then answer.
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

/** Nominated one after the other within minutes; the last of them to answer ends the check. */
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

/** One moment a check, well apart from each other, so that PARTIAL is to be seen. */
function finishTimes(count: number, dice: RandomStream): number[] {
  const first = 14 * minute
  const slot = (longest - first) / count
  const times = Array.from({ length: count }, (_, place) =>
    Math.round(first + slot * (place + dice.between(0.3, 0.9))),
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
  return Array.from({ length: count }, (_, place) => {
    const name = dice.pick(firstNames)
    return {
      referee_id: rules['referee-id-form'] === 'digits' ? String(first + place) : dice.uuid(),
      referee_name: isUnnamed(course) ? null : `${name} Referee`,
      referee_email: isUnnamed(course) ? null : `${name.toLowerCase()}.referee.${place + 1}@example.com`,
      status: 'IN_PROGRESS',
      report_at: null,
    }
  })
}

/** What the document leaves open about the course of a request. */
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
