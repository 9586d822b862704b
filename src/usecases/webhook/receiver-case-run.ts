import type { WebhookEvent } from '../../contract/request.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import { type Delivery, eventName, eventText, isAccepted, type Reply } from '../../domain/webhook/delivery.ts'
import type { RuleFinding, Level, ReceiverEvent } from '../../domain/webhook/receiver-check.ts'
import type { SigningKey } from '../../domain/webhook/verify.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'

export interface ReceiverCase {
  id: string
  /** What is tried, for people. */
  title: string
  /** The sentence of the document it follows from. */
  rule: string
  /** What the user has to give so that it can be judged. */
  needs?: 'stored' | 'restart'
  run(test: CaseRun): Promise<void>
}

interface CaseRunOptions {
  key: SigningKey
  /** Signs what a stranger would send. */
  otherKey: SigningKey
  random: Random
  clock: Pick<Clock, 'monotonic' | 'sleep'>
  post: (parcel: Delivery, mayFail: boolean) => Promise<Reply>
  /** What the receiver has stored; in cases that need it. */
  readStored: () => Promise<readonly ReceiverEvent[]>
  /** Kills the receiver and starts it again, until it answers; in cases that need it. */
  restart: () => Promise<void>
  /** What was sent so far, in this case and the ones before. */
  sent: SentEvents
}

/** Texts of the pairs (request_id, status) that were sent: see `pairOf`. */
export interface SentEvents {
  /** With a good signature, and acknowledged. */
  acknowledged: Set<string>
  /** Forged, so that none of them may be stored. */
  forged: Set<string>
}

/** One case under way: what was sent, what came back, and what is wrong with it. */
export class CaseRun {
  readonly replies: Reply[] = []
  readonly findings: RuleFinding[] = []
  /** Milliseconds of what it accepted: for the rule on time. */
  readonly accepted: number[] = []
  /** Why the answers do not show whether the rule is kept. */
  unseen: string | undefined
  readonly #options: CaseRunOptions

  constructor(options: CaseRunOptions) {
    this.#options = options
  }

  get clock(): CaseRunOptions['clock'] {
    return this.#options.clock
  }

  get sent(): SentEvents {
    return this.#options.sent
  }

  readStored(): Promise<readonly ReceiverEvent[]> {
    return this.#options.readStored()
  }

  restart(): Promise<void> {
    return this.#options.restart()
  }

  isHeads(): boolean {
    return this.#options.random.fraction() < 0.5
  }

  /** Leaves the case unjudged unless something is found. */
  leave(reason: string): void {
    this.unseen = reason
  }

  /** The text of an event with a new id unless one is given. */
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

  signWithOtherKey(body: string): string {
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
    if (isAccepted(reply)) {
      this.accepted.push(reply.milliseconds)
      this.sent.acknowledged.add(pairOf(parcel))
    } else this.find('must', `${labelled(what)}${describeReply(reply)}; expected a 2xx`)
    return reply
  }

  /** Anything but a 2xx is due: 400, 401 or 403 says it best. */
  async refuse(parcel: Delivery, what = '', level: Level = 'must'): Promise<Reply> {
    const reply = await this.#post(parcel)
    const { status } = reply
    // Who accepts what is no more than advice may store it.
    if (level === 'must') this.sent.forged.add(pairOf(parcel))
    else if (isAccepted(reply)) this.sent.acknowledged.add(pairOf(parcel))
    if (isAccepted(reply)) this.find(level, `${labelled(what)}${describeReply(reply)}: it was accepted`)
    else if (status === null)
      this.find('must', `${labelled(what)}${describeReply(reply)}; expected a refusal such as 401`)
    else if (status < 400 || status >= 500) {
      this.find(
        'advice',
        `${labelled(what)}${describeReply(reply)}; 401 would show that it was refused rather than that the receiver failed`,
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
      this.find(failed ? 'must' : 'advice', `${labelled(what)}${describeReply(reply)}; a 2xx would be better`)
    }
    return reply
  }

  /** Any answer will do; `mayFail`: none as well, and the receiver counts as answering. */
  post(parcel: Delivery, { mayFail = false }: { mayFail?: boolean } = {}): Promise<Reply> {
    return this.#post(parcel, mayFail)
  }

  /** Any answer will do that is no failure. */
  async survive(parcel: Delivery, what = ''): Promise<Reply> {
    const reply = await this.#post(parcel)
    if (reply.status === null) this.find('must', `${labelled(what)}${describeReply(reply)}`)
    else if (reply.status >= 500)
      this.find('advice', `${labelled(what)}${describeReply(reply)}; expected a 4xx such as 400`)
    return reply
  }

  find(level: Level, text: string): void {
    this.findings.push({ level, text })
  }

  async #post(parcel: Delivery, mayFail = false): Promise<Reply> {
    const reply = await this.#options.post(parcel, mayFail)
    this.replies.push(reply)
    return reply
  }
}

/** `request_id status` of an event that is sent; empty where the body is no event. */
export function pairOf({ body }: Pick<Delivery, 'body'>): string {
  const value = parseJsonBytes(body) as Partial<ReceiverEvent> | null | undefined
  return typeof value?.request_id === 'string' && typeof value.status === 'string'
    ? textOfPair(value as ReceiverEvent)
    : ''
}

export function textOfPair({ request_id, status }: ReceiverEvent): string {
  return `${request_id} ${status}`
}

function labelled(what: string): string {
  return what === '' ? '' : `${what}: `
}

/** `answered 401 "bad signature" in 3 ms`. */
export function describeReply({ status, failure, milliseconds, excerpt }: Reply): string {
  if (status === null) return `no answer: ${failure}`
  const words = excerpt === '' ? '' : ` "${excerpt}"`
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return `answered ${status}${words} in ${Math.round(milliseconds)} ms${redirect}`
}
