import type { Luck } from '../luck.ts'
import type { CheckRecord, PackageRecord, RefereeRecord, RequestRecord, Step } from '../records.ts'
import type { Choices } from '../rules.ts'
import { scenarioSteps } from './scenario-steps.ts'
import { inOrder, longest, minute } from './steps.ts'

/** What a request's course depends on. */
export interface Course {
  pack: PackageRecord
  /** The request's number, by which its luck is named. */
  number: number
  scenarios: readonly string[]
  luck: Luck
  rules: Choices
}

/** The checks of a request, none of them begun, and what will become of them. */
export function plan(course: Course): Pick<RequestRecord, 'checks' | 'steps'> {
  const checks = plannedChecks(course)
  let steps = usualSteps(course, checks)
  for (const scenario of course.scenarios) steps = scenarioSteps(scenario, steps, checks, course.rules)
  return { checks, steps: inOrder(byRules(steps, course.rules)) }
}

function plannedChecks({ pack, number, luck }: Course): CheckRecord[] {
  const checks: CheckRecord[] = []
  const add = (part: Pick<CheckRecord, 'type' | 'check_name' | 'partner_name'>): void => {
    const id = luck.uuid('check', number, checks.length)
    checks.push({ ...part, id, created: false, status: 'RECEIVED', report_at: null, referees: [] })
  }
  if (pack.reference_survey !== null) add({ type: 'reference', check_name: null, partner_name: null })
  for (const background of pack.background_checks) add({ type: 'background', ...background })
  return checks
}

/**
 * The undisturbed course: checks start one after the other within minutes, complete one after the
 * other, the last within the hour; referees are nominated, then answer.
 */
function usualSteps(course: Course, checks: readonly CheckRecord[]): Step[] {
  const { number, luck } = course
  const between = (from: number, to: number, ...name: (string | number)[]): number =>
    Math.round(luck.between(from * minute, to * minute, 'progress', number, ...name))
  const finishes = finishTimes(checks.length, course)
  const steps: Step[] = []
  let start = 0
  for (const [check, { type }] of checks.entries()) {
    const finish = finishes[check] ?? longest
    start += check === 0 ? between(2, 4, 'start', check) : between(0.5, 1.5, 'start', check)
    start = Math.min(start, finish)
    steps.push({ at: start, does: 'check', check, status: 'IN_PROGRESS' })
    if (type === 'reference') steps.push(...refereeSteps(course, check, start, finish))
    else steps.push({ at: finish, does: 'report', check, referee: null })
    steps.push({ at: finish, does: 'check', check, status: 'COMPLETED' })
  }
  return inOrder(steps)
}

/** Nominated within two minutes; the last to answer ends the check. */
function refereeSteps(course: Course, check: number, start: number, finish: number): Step[] {
  const { number, luck } = course
  const referees = plannedReferees(course)
  return referees.flatMap((record, referee): Step[] => {
    const nominated = Math.min(
      Math.round(start + luck.between(0.5 * minute, 2 * minute, 'progress', number, 'nominate', referee)),
      finish,
    )
    const answered =
      referee === referees.length - 1
        ? finish
        : Math.round(luck.between(nominated, finish, 'progress', number, 'answer', referee))
    return [
      { at: nominated, does: 'nominate', check, referee: record },
      { at: answered, does: 'referee', check, referee, status: 'COMPLETED' },
      { at: answered, does: 'report', check, referee },
    ]
  })
}

/** One moment a check, well apart from each other, so that PARTIAL is to be seen. */
function finishTimes(count: number, { number, luck }: Course): number[] {
  const first = 14 * minute
  const slot = (longest - first) / count
  const times = Array.from({ length: count }, (_, place) =>
    Math.round(first + slot * (place + 0.3 + 0.6 * luck.fraction('progress', number, 'finish', place))),
  )
  const turn = Math.floor(luck.fraction('progress', number, 'order') * count)
  return [...times.slice(turn), ...times.slice(0, turn)]
}

const firstNames = ['Remy', 'Robin', 'Casey', 'Jordan', 'Alexis', 'Morgan', 'Taylor', 'Quinn'] as const

function plannedReferees({ pack, number, luck, rules }: Course): RefereeRecord[] {
  const count = Math.max(1, pack.reference_survey?.min_referees ?? 1)
  const first = 10 * Math.floor(luck.between(10_000, 100_000, 'referee id', number))
  return Array.from({ length: count }, (_, place) => {
    const name = luck.pick(firstNames, 'referee', number, place)
    return {
      referee_id:
        rules['referee-id-form'] === 'digits' ? String(first + place) : luck.uuid('referee', number, place),
      referee_name: `${name} Referee`,
      referee_email: `${name.toLowerCase()}.referee.${place + 1}@example.com`,
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
