import type { WebhookEvent } from '../../../contract/event.ts'
import { sign, signingKey } from '../../../contract/signature.ts'
import { isAccepted, type Delivery, type Reply } from '../../../domain/webhook/delivery.ts'
import type { Random } from '../../../host/random.ts'
import { eventName, eventText } from '../../../domain/webhook/made-up.ts'
import type { Finding, Level } from '../../../domain/webhook/exam-report.ts'
import type { SigningKey } from '../../../domain/webhook/verify.ts'

export interface CaseRunOptions {
  key: SigningKey
  /** Signs what a stranger would send. */
  otherKey: SigningKey
  random: Random
  post: (parcel: Delivery) => Promise<Reply>
}

/** One case under way: what was sent, what came back, and what is wrong with it. */
export class CaseRun {
  readonly replies: Reply[] = []
  readonly findings: Finding[] = []
  /** Milliseconds of what it accepted: for the rule on time. */
  readonly accepted: number[] = []
  readonly #options: CaseRunOptions

  constructor(options: CaseRunOptions) {
    this.#options = options
  }

  /** The text of an event that nobody had before. */
  event(fields: Partial<WebhookEvent> = {}): string {
    return eventText({
      event: eventName,
      request_id: this.#options.random.uuid(),
      status: 'COMPLETED',
      ...fields,
    })
  }

  sign(body: string): string {
    return sign(Buffer.from(body), this.#options.key)
  }

  signAsStranger(body: string): string {
    return sign(Buffer.from(body), this.#options.otherKey)
  }

  /** As with an empty secret: HMAC fills keys up with zeros, so that one zero is the same key. */
  signWithNothing(body: string): string {
    return sign(Buffer.from(body), signingKey(new Uint8Array(1)))
  }

  /** A body with its good signature. */
  parcel(body: string = this.event(), more: Partial<Delivery> = {}): Delivery {
    return { body: Buffer.from(body), signatures: [this.sign(body)], ...more }
  }

  /** A 2xx is due. */
  async accept(parcel: Delivery, what = ''): Promise<Reply> {
    const reply = await this.#post(parcel)
    if (isAccepted(reply)) this.accepted.push(reply.milliseconds)
    else this.find('must', `${labelled(what)}${told(reply)}; expected a 2xx`)
    return reply
  }

  /** Anything but a 2xx is due: 400, 401 or 403 says it best. */
  async refuse(parcel: Delivery, what = '', level: Level = 'must'): Promise<Reply> {
    const reply = await this.#post(parcel)
    const { status } = reply
    if (isAccepted(reply)) this.find(level, `${labelled(what)}${told(reply)}: it was accepted`)
    else if (status === null)
      this.find('must', `${labelled(what)}${told(reply)}; expected a refusal such as 401`)
    else if (status < 400 || status >= 500) {
      this.find(
        'advice',
        `${labelled(what)}${told(reply)}; 401 would show that it was refused rather than that the receiver failed`,
      )
    }
    return reply
  }

  /** A 2xx is best; a 4xx makes the service repeat it for nothing, and a failure is one. */
  async tolerate(parcel: Delivery, what = ''): Promise<Reply> {
    const reply = await this.#post(parcel)
    if (isAccepted(reply)) this.accepted.push(reply.milliseconds)
    else {
      const failed = reply.status === null || reply.status >= 500
      this.find(failed ? 'must' : 'advice', `${labelled(what)}${told(reply)}; a 2xx would be better`)
    }
    return reply
  }

  /** Any answer will do. */
  tell(parcel: Delivery): Promise<Reply> {
    return this.#post(parcel)
  }

  /** Any answer will do that is no failure. */
  async survive(parcel: Delivery, what = ''): Promise<Reply> {
    const reply = await this.#post(parcel)
    if (reply.status === null) this.find('must', `${labelled(what)}${told(reply)}`)
    else if (reply.status >= 500)
      this.find('advice', `${labelled(what)}${told(reply)}; expected a 4xx such as 400`)
    return reply
  }

  find(level: Level, text: string): void {
    this.findings.push({ level, text })
  }

  async #post(parcel: Delivery): Promise<Reply> {
    const reply = await this.#options.post(parcel)
    this.replies.push(reply)
    return reply
  }
}

function labelled(what: string): string {
  return what === '' ? '' : `${what}: `
}

/** `answered 401 "bad signature" in 3 ms`. */
function told({ status, failure, milliseconds, said }: Reply): string {
  if (status === null) return `no answer: ${failure}`
  const words = said === '' ? '' : ` "${said}"`
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return `answered ${status}${words} in ${Math.round(milliseconds)} ms${redirect}`
}
