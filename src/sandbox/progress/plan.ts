import type { Luck } from '../luck.ts'
import type { CheckRecord, PackageRecord, RefereeRecord, Step } from '../records.ts'

const minute = 60_000

/** Everything is over before this; the promise is an hour. */
const longest = 54 * minute

/** The checks of a package, none of them begun. */
export function plannedChecks(pack: PackageRecord, number: number, luck: Luck): CheckRecord[] {
  const blank = { created: false, status: 'RECEIVED', report_at: null, referees: [] } as const
  const checks: CheckRecord[] = []
  const id = (): string => luck.uuid('check', number, checks.length)
  if (pack.reference_survey !== null) {
    checks.push({ ...blank, referees: [], id: id(), type: 'reference', check_name: null, partner_name: null })
  }
  for (const background of pack.background_checks) {
    checks.push({ ...blank, referees: [], id: id(), type: 'background', ...background })
  }
  return checks
}

/**
 * The undisturbed course: checks start one after the other within minutes, complete one after the
 * other, the last within the hour; referees are nominated, then answer.
 */
export function usualSteps(
  pack: PackageRecord,
  checks: readonly CheckRecord[],
  number: number,
  luck: Luck,
): Step[] {
  const between = (from: number, to: number, ...name: (string | number)[]): number =>
    Math.round(luck.between(from * minute, to * minute, 'progress', number, ...name))
  const steps: Step[] = []
  const finishes = finishTimes(checks.length, number, luck)
  let start = 0
  for (const [check, { type }] of checks.entries()) {
    start += check === 0 ? between(2, 4, 'start', check) : between(0.5, 1.5, 'start', check)
    const finish = finishes[check] ?? longest
    start = Math.min(start, finish)
    steps.push({ at: start, does: 'check', check, status: 'IN_PROGRESS' })
    if (type === 'reference') {
      const referees = plannedReferees(pack, number, luck)
      for (const [referee, record] of referees.entries()) {
        const nominated = start + between(0.5, 2, 'nominate', referee)
        const last = referee === referees.length - 1
        const answered = last
          ? finish
          : Math.round(luck.between(nominated, finish, 'progress', number, 'answer', referee))
        steps.push(
          { at: nominated, does: 'nominate', check, referee: record },
          { at: answered, does: 'referee', check, referee, status: 'COMPLETED' },
          { at: answered, does: 'report', check, referee },
        )
      }
    } else {
      steps.push({ at: finish, does: 'report', check, referee: null })
    }
    steps.push({ at: finish, does: 'check', check, status: 'COMPLETED' })
  }
  return inOrder(steps)
}

/** Stable, so that what is told together happens in the order told. */
export function inOrder(steps: Step[]): Step[] {
  return steps.sort((left, right) => left.at - right.at)
}

/** One moment a check, well apart from each other, so that PARTIAL is to be seen. */
function finishTimes(count: number, number: number, luck: Luck): number[] {
  const first = 14 * minute
  const slot = (longest - first) / count
  const times = Array.from({ length: count }, (_, place) =>
    Math.round(first + slot * (place + 0.3 + 0.6 * luck.fraction('progress', number, 'finish', place))),
  )
  const turn = Math.floor(luck.fraction('progress', number, 'order') * count)
  return [...times.slice(turn), ...times.slice(0, turn)]
}

const firstNames = ['Remy', 'Robin', 'Casey', 'Jordan', 'Alexis', 'Morgan', 'Taylor', 'Quinn'] as const

function plannedReferees(pack: PackageRecord, number: number, luck: Luck): RefereeRecord[] {
  const count = Math.max(1, pack.reference_survey?.min_referees ?? 1)
  const id = 10 * Math.floor(luck.between(10_000, 100_000, 'referee id', number))
  return Array.from({ length: count }, (_, place) => {
    const name = luck.pick(firstNames, 'referee', number, place)
    return {
      referee_id: String(id + place),
      referee_name: `${name} Referee`,
      referee_email: `${name.toLowerCase()}.referee.${place + 1}@example.com`,
      status: 'IN_PROGRESS',
      report_at: null,
    }
  })
}
