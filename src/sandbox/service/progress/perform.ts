import type { RequestStatus } from '../../../contract/statuses.ts'
import type { RequestRecord, Step } from '../records.ts'
import { overallStatus } from './status.ts'

/** Milliseconds of progress after which the next step is due; undefined when all has happened. */
export function nextStepAt(request: RequestRecord): number | undefined {
  return request.steps[request.applied]?.at
}

/**
 * Lets everything happen that is due once `elapsed` milliseconds of progress are over; steps of one
 * moment happen together. `timeOf` tells when a step was on the clock. Returns the overall statuses
 * gone through, oldest first.
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
