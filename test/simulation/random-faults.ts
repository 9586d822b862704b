import type { Fault } from '../../src/sandbox/service/schemas.ts'
import type { Sandbox } from '../../src/sandbox/control/embedded.ts'

/** Faults of a POST, with their probabilities in thousandths. */
const createFaults: readonly [thousandths: number, fault: Fault][] = [
  [20, { kind: 'status', status: 500, when: 'before' }],
  [20, { kind: 'status', status: 500, when: 'after' }],
  [10, { kind: 'status', status: 502, when: 'after', body: 'html' }],
  [10, { kind: 'status', status: 202, when: 'after' }],
  [10, { kind: 'status', status: 408, when: 'before' }],
  [15, { kind: 'cut', when: 'before' }],
  [15, { kind: 'cut', when: 'after' }],
  [10, { kind: 'no-id' }],
  [15, { kind: 'status', status: 429, when: 'before', retryAfter: '3' }],
  [5, { kind: 'status', status: 429, when: 'before', retryAfter: 'soon' }],
  [5, { kind: 'status', status: 400, when: 'before', message: 'recipient.email: is not accepted' }],
  [5, { kind: 'status', status: 301, when: 'before' }],
]

/** Injects random faults into the next calls. */
export function injectRandomFaults(sandbox: Sandbox, rng: () => number): void {
  for (let call = 0; call < 40; call += 1) {
    let roll = rng() * 1000
    for (const [thousandths, fault] of createFaults) {
      roll -= thousandths
      if (roll >= 0) continue
      sandbox.inject({ on: 'POST *', after: call, fault })
      break
    }
  }
  // An outage, in which reads fail as well.
  if (rng() < 0.3) {
    sandbox.inject({
      on: 'GET *',
      after: Math.floor(rng() * 4),
      times: 1 + Math.floor(rng() * 12),
      fault: { kind: 'status', status: 503, when: 'before' },
    })
  }
}

/**
 * Changes the organisation during a run, as its owner could, or changes nothing. Returns a function that undoes
 * the change.
 */
export function changeOrganisation(sandbox: Sandbox, rng: () => number): () => void {
  const kind = Math.floor(rng() * 6)
  if (kind === 0) {
    sandbox.setCredits(Math.floor(rng() * 5))
    return () => sandbox.setCredits(null)
  }
  if (kind === 1) {
    const { userEmail } = sandbox.credentials
    sandbox.inject({
      on: 'POST *',
      after: Math.floor(rng() * 6),
      fault: { kind: 'switch', switch: 'deactivate-user' },
    })
    return () => sandbox.setUserActive(userEmail, true)
  }
  return () => undefined
}
