import { hash } from 'node:crypto'

import type { SeededRandom } from './seeded-random.ts'

/** "Signed report token lifetime: 1 hour". */
const lifetime = 3_600_000

/** Makes and checks the `t` of report URLs. A token is good for one report and says when it ends. */
export class ReportTokens {
  readonly #secret: string
  #issued = 0

  constructor(rng: SeededRandom) {
    this.#secret = rng.text(32, 'report tokens')
  }

  /** Never the same twice ("Each read produces fresh signed report URLs"). */
  issue(report: string, now: number): string {
    this.#issued += 1
    const claim = `${(now + lifetime).toString(36)}.${this.#issued.toString(36)}`
    return `${claim}.${this.#seal(report, claim)}`
  }

  /** Whether the token was made for this report and its hour is not over. */
  accepts(token: string, report: string, now: number): boolean {
    const [end = '', count = '', seal = '', ...rest] = token.split('.')
    if (rest.length > 0 || seal !== this.#seal(report, `${end}.${count}`)) return false
    return now < Number.parseInt(end, 36)
  }

  /** The secret on both sides, so that nothing can be added; several times faster than an HMAC, and reads sign a lot. */
  #seal(report: string, claim: string): string {
    return hash('sha256', `${this.#secret} ${report} ${claim} ${this.#secret}`, 'base64url')
  }
}

/** What a token of a background report is bound to, and the path below /v1/reports/. */
export const backgroundReport = (checkId: string): string => checkId

/** The same for one referee's report. */
export const refereeReport = (checkId: string, refereeId: string): string =>
  `${checkId}/referees/${refereeId}`
