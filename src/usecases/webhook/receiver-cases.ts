import type { WebhookEvent } from '../../contract/request.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import { type Delivery, eventName, eventText, isAccepted, type Reply } from '../../domain/webhook/delivery.ts'
import { isSlower, parseReceiverEvent, rules } from '../../domain/webhook/receiver-check.ts'
import type { RuleLevel, ReceiverEvent, RuleFinding } from '../../domain/webhook/receiver-check.ts'
import type { SigningKey } from '../../domain/webhook/verify.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'

export interface ReceiverCase {
  id: string
  /** Describes the case for the user. */
  title: string
  /** The sentence of the API document that the case tests. */
  rule: string
  /** What the user has to give: `stored`, how to read stored events; `restart`, also how to start the receiver. */
  needs?: 'stored' | 'restart' | undefined
  run(test: CaseRun): Promise<unknown>
}

/** What all cases of a check share. */
interface CaseEnvironment {
  key: SigningKey
  /** Signs forged events. */
  otherKey: SigningKey
  random: Random
  clock: Pick<Clock, 'monotonic' | 'sleep'>
  post: (delivery: Delivery, options: PostOptions) => Promise<Reply>
  /** Returns the events that the receiver has stored; used only in cases that need them. */
  readStored: () => Promise<readonly ReceiverEvent[]>
  /** Kills the receiver, starts it again and waits until it responds; used only in cases that need it. */
  restart: () => Promise<void>
  /** Events that were sent so far, in this case and the ones before. */
  sent: SentEvents
}

interface PostOptions {
  /** Whether a missing response is valid too. */
  mayFail?: boolean
}

/** Events that were sent, each as the text of its pair (request_id, status): see `eventKeyOf`. */
export interface SentEvents {
  /** Events with a good signature that the receiver acknowledged. */
  acknowledged: Set<string>
  /** Forged events, which must not be stored. */
  forged: Set<string>
}

/** One run of a case: the replies of the receiver and the findings about them. */
export class CaseRun {
  readonly replies: Reply[] = []
  readonly findings: RuleFinding[] = []
  /** Response times in milliseconds of accepted events, for the rule about time. */
  readonly acceptedResponseMs: number[] = []
  /** The reason why the replies do not show whether the receiver follows the rule. */
  unjudgedReason: string | undefined
  readonly environment: CaseEnvironment

  constructor(environment: CaseEnvironment) {
    this.environment = environment
  }

  /** Leaves the case unjudged if it has no findings. */
  leaveUnjudged(reason: string): void {
    this.unjudgedReason = reason
  }

  /** Returns the text of an event, with a new id unless one is given. */
  event(fields: Partial<WebhookEvent> = {}): string {
    const request_id = this.environment.random.uuid()
    return eventText({ event: eventName, request_id, status: 'COMPLETED', ...fields })
  }

  sign(body: string, key: SigningKey = this.environment.key): string {
    return sign(Buffer.from(body), key)
  }

  /** Returns a delivery of the body with its good signature. */
  signedDelivery(body: string = this.event(), more: Partial<Delivery> = {}): Delivery {
    return { body: Buffer.from(body), signatures: [this.sign(body)], ...more }
  }

  /** Posts a delivery that has to be accepted with a 2xx. */
  async accept(delivery: Delivery, label = ''): Promise<Reply> {
    const reply = await this.post(delivery)
    if (isAccepted(reply)) {
      this.acceptedResponseMs.push(reply.milliseconds)
      this.environment.sent.acknowledged.add(eventKeyOf(delivery))
    } else this.#reportReply('must', label, reply, '; expected a 2xx')
    return reply
  }

  /** Posts a delivery that has to be refused with a status other than 2xx; 400, 401 or 403 is best. */
  async refuse(delivery: Delivery, label = '', level: RuleLevel = 'must'): Promise<Reply> {
    const reply = await this.post(delivery)
    const { status } = reply
    const { acknowledged, forged } = this.environment.sent
    // If acceptance is only advised against, a receiver that accepts the event may store it.
    if (level === 'must') forged.add(eventKeyOf(delivery))
    else if (isAccepted(reply)) acknowledged.add(eventKeyOf(delivery))
    if (isAccepted(reply)) this.#reportReply(level, label, reply, ': it was accepted')
    else if (status === null) this.#reportReply('must', label, reply, '; expected a refusal such as 401')
    else if (status < 400 || status >= 500) {
      const advice = '; 401 would show that it was refused rather than that the receiver failed'
      this.#reportReply('advice', label, reply, advice)
    }
    return reply
  }

  /** Posts a delivery that should be accepted: after a 4xx the service would repeat it, and a 5xx is a failure. */
  async tolerate(delivery: Delivery): Promise<void> {
    const reply = await this.post(delivery)
    const isFailure = reply.status === null || reply.status >= 500
    if (isAccepted(reply)) this.acceptedResponseMs.push(reply.milliseconds)
    else this.#reportReply(isFailure ? 'must' : 'advice', '', reply, '; a 2xx would be better')
  }

  /** Posts a delivery to which any response is valid. */
  async post(delivery: Delivery, options: PostOptions = {}): Promise<Reply> {
    const reply = await this.environment.post(delivery, options)
    this.replies.push(reply)
    return reply
  }

  /** Posts a delivery to which any response except a failure is valid. */
  async survive(delivery: Delivery, label: string): Promise<void> {
    const reply = await this.post(delivery)
    if (reply.status === null) this.#reportReply('must', label, reply)
    else if (reply.status >= 500) this.#reportReply('advice', label, reply, '; expected a 4xx such as 400')
  }

  #reportReply(level: RuleLevel, label: string, reply: Reply, explanation = ''): void {
    this.report(level, `${label === '' ? '' : `${label}: `}${describeReply(reply)}${explanation}`)
  }

  report(level: RuleLevel, text: string): void {
    this.findings.push({ level, text })
  }
}

/** Returns `request_id status` of an event that is sent; an empty text if the body is not an event. */
export function eventKeyOf({ body }: Pick<Delivery, 'body'>): string {
  const event = parseReceiverEvent(parseJsonBytes(body))
  return event === undefined ? '' : toEventKey(event)
}

export function toEventKey({ request_id, status }: ReceiverEvent): string {
  return `${request_id} ${status}`
}

/** Describes a reply, such as `answered 401 "bad signature" in 3 ms`. */
export function describeReply({ status, failure, milliseconds, excerpt }: Reply): string {
  if (status === null) return `no answer: ${failure}`
  const words = excerpt === '' ? '' : ` "${excerpt}"`
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return `answered ${status}${words} in ${Math.round(milliseconds)} ms${redirect}`
}

/** Returns the event with a space after each : and , as json.dumps of Python writes it. */
function addSpaces(event: string): string {
  return event.replaceAll(':"', ': "').replaceAll('","', '", "')
}

function toBase64(signature: string): string {
  return Buffer.from(signature, 'hex').toString('base64')
}

/** The finding about a receiver that has the right secret and verifies the wrong bytes. */
export const rewritesJsonFinding =
  'the same event with a space after : and , is accepted: it verifies JSON that it wrote again, as json.dumps of Python does, not the received bytes'

/** The finding about a receiver that has the right secret and expects another encoding. */
export const expectsBase64Finding =
  'the same event with its signature in base64 is accepted: it compares with a base64 digest, and the service sends lowercase hex'

/** A body to send with its good signature, its name in a finding, and further options of its delivery. */
type SentBody = readonly [body: string, label?: string, more?: Partial<Delivery>]

/** Makes the run of a case in which all events have to be accepted, one after another. */
const acceptEach = (events: (test: CaseRun) => readonly SentBody[]) => async (test: CaseRun) => {
  for (const [body, label, more] of events(test)) await test.accept(test.signedDelivery(body, more), label)
}

/** A case without what it needs. */
type CaseRow = readonly [id: string, title: string, rule: string, run: ReceiverCase['run']]

export function createCases(rows: readonly CaseRow[], needs?: ReceiverCase['needs']): ReceiverCase[] {
  return rows.map(([id, title, rule, run]) => ({ id, title, rule, run, needs }))
}

/** The case that runs first: without it the others cannot be judged. */
export const goodEventCase: ReceiverCase = {
  id: 'good-event',
  title: 'a good event',
  rule: rules.acknowledge,
  async run(test) {
    const { status } = await test.accept(test.signedDelivery())
    if (status === null || status < 400 || status >= 500) return
    const reply = await test.post(test.signedDelivery(addSpaces(test.event())))
    if (isAccepted(reply)) test.report('must', rewritesJsonFinding)
    const body = test.event()
    const encoded = await test.post(test.signedDelivery(body, { signatures: [toBase64(test.sign(body))] }))
    if (isAccepted(encoded)) test.report('must', expectsBase64Finding)
  },
}

/** Cases that a receiver has to accept: everything that the service may send. */
export const acceptingCases: readonly ReceiverCase[] = createCases([
  [
    'every-status',
    'every status of the document',
    rules.statuses,
    acceptEach((test) =>
      ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'CANCELLED'].map((status) => [
        test.event({ status }),
        status,
      ]),
    ),
  ],
  [
    'error-with-reason',
    'ERROR with its reason',
    rules.reason,
    acceptEach((test) => [
      [test.event({ status: 'ERROR', error_reason: 'The request could not be processed.' })],
    ]),
  ],
  [
    'error-without-reason',
    'ERROR without a reason',
    rules.reason,
    acceptEach((test) => [[test.event({ status: 'ERROR' })]]),
  ],
  [
    'error-reason-odd',
    'reasons that are long, quoted, of many lines',
    rules.reason,
    acceptEach((test) =>
      ['x'.repeat(8192), 'said "no"\\ \n\t\u0001', '', '<b>${1}</b> {{2}} %s \u2028'].map((error_reason) => [
        test.event({ status: 'ERROR', error_reason }),
        `a reason of ${error_reason.length} characters`,
      ]),
    ),
  ],
  [
    'bytes-spaced',
    'a good signature over JSON with spaces and indents',
    rules.exactBytes,
    acceptEach((test) => [
      [JSON.stringify(JSON.parse(test.event()), null, 2), 'indented'],
      [addSpaces(test.event()), 'a space after : and ,'],
    ]),
  ],
  [
    'bytes-escaped',
    'a good signature over JSON with \\u and \\/ escapes',
    rules.exactBytes,
    acceptEach((test) => {
      const text = test.event({ status: 'ERROR', error_reason: 'caf\u00e9 1/2' })
      return [[text.replace('\u00e9', '\\u00e9').replace('1/2', '1\\/2')]]
    }),
  ],
  [
    'bytes-utf8',
    'a good signature over UTF-8 that is not ASCII',
    rules.exactBytes,
    acceptEach((test) => [
      [test.event({ status: 'ERROR', error_reason: 'Pr\u00fcfung \u6771\u4eac \u{1F642}' })],
    ]),
  ],
  [
    'bytes-order',
    'a good signature over fields in another order',
    rules.exactBytes,
    acceptEach((test) => {
      const value = JSON.parse(test.event()) as Record<string, string>
      return [[JSON.stringify(Object.fromEntries(Object.entries(value).reverse()))]]
    }),
  ],
  [
    'bytes-newline',
    'a good signature over a body with line ends of its own',
    rules.exactBytes,
    acceptEach((test) => [
      [`${test.event()}\n`, 'a newline at its end'],
      [test.event().replace('{', '{\r\n').replace('}', '\r\n}'), 'CRLF between its lines'],
    ]),
  ],
  [
    'header-case',
    'the header’s name in lower case, as proxies write it',
    rules.signature,
    acceptEach((test) => [[test.event(), '', { signatureName: 'x-service-signature' }]]),
  ],
  [
    'chunked',
    'a chunked body, cut inside a character',
    rules.post,
    acceptEach((test) => [[textCutInCharacter(test.event.bind(test)), '', { chunked: true }]]),
  ],
  [
    'content-type-charset',
    'Content-Type: application/json; charset=utf-8',
    rules.contentType,
    (test) =>
      test.tolerate(test.signedDelivery(test.event(), { contentType: 'application/json; charset=utf-8' })),
  ],
  [
    'duplicate',
    'the same event twice',
    rules.atLeastOnce,
    acceptEach((test) => {
      const body = test.event()
      return ['the first time', 'the second time'].map((time) => [body, time])
    }),
  ],
  [
    'duplicate-at-once',
    'the same event four times at once',
    rules.atLeastOnce,
    (test) => {
      const delivery = test.signedDelivery()
      return Promise.all([1, 2, 3, 4].map(() => test.accept(delivery)))
    },
  ],
  [
    'out-of-order',
    'PARTIAL after COMPLETED, of the same request',
    rules.retried,
    acceptEach((test) => {
      const { request_id } = JSON.parse(test.event()) as { request_id: string }
      return ['COMPLETED', 'PARTIAL'].map((status) => [test.event({ request_id, status }), status])
    }),
  ],
  [
    'extra-fields',
    'fields that later versions may add',
    rules.versions,
    acceptEach((test) => [[test.event({ sequence: 7, request: { tags: ['a', null] }, __meta: {} })]]),
  ],
  [
    'unknown-status',
    'a status that is not in the document',
    rules.statuses,
    (test) => test.tolerate(test.signedDelivery(test.event({ status: 'ON_HOLD' }))),
  ],
  [
    'unknown-event',
    'an event that is not in the document',
    rules.event,
    (test) => test.tolerate(test.signedDelivery(test.event({ event: 'request.noted' }))),
  ],
])

/** Returns the text of an event whose middle byte, at which it is cut, is inside a character. */
function textCutInCharacter(event: (fields: { status: string; error_reason: string }) => string): string {
  for (let pad = 0; ; pad += 1) {
    const text = event({ status: 'ERROR', error_reason: `${'x'.repeat(pad)}${'\u00e9'.repeat(100)}` })
    const bytes = Buffer.from(text)
    if (((bytes[(bytes.length + 1) >> 1] ?? 0) & 0xc0) === 0x80) return text
  }
}

/** Cases that a receiver has to refuse: everything that the service did not sign in this form. */
export const refusingCases: readonly ReceiverCase[] = createCases([
  ['signature-missing', 'no signature', ...refuseSignatures(() => [[[]]])],
  ['signature-empty', 'an empty signature', ...refuseSignatures(() => [[['']]])],
  [
    'signature-wrong',
    'a signature made with another secret',
    ...refuseSignatures((_good, body, test) => [
      [[test.sign(body, test.environment.otherKey)]],
      [['0'.repeat(64)], 'sixty-four zeros'],
      [[test.sign(body, keyOfEmptySecret)], 'an empty secret'],
    ]),
  ],
  // Upper-case digits encode the same bytes, so a receiver that accepts them accepts no forged event.
  [
    'signature-upper-case',
    'the signature in upper case',
    ...refuseSignatures((good) => [[[good.toUpperCase()], '', 'advice']]),
  ],
  [
    'signature-base64',
    'the signature in base64',
    ...refuseSignatures((good) => [[[toBase64(good)], '', 'advice']]),
  ],
  [
    'signature-prefixed',
    'the signature after "sha256="',
    ...refuseSignatures((good) => [[[`sha256=${good}`]]]),
  ],
  [
    'signature-doubled',
    'the signature twice: in one value, and in two headers',
    ...refuseSignatures((good) => [
      [[good + good], 'in one value'],
      [[good, good], 'in two headers', 'advice'],
    ]),
  ],
  [
    'signature-cut',
    'the first part of the signature',
    ...refuseSignatures((good) =>
      [1, 32, 62, 63].map((length) => [[good.slice(0, length)], `${length} of 64 characters`]),
    ),
  ],
  [
    'signature-longer',
    'the signature with something after it',
    ...refuseSignatures((good) => ['00', 'zz', '0'].map((more) => [[good + more], `followed by "${more}"`])),
  ],
  [
    'signature-not-hex',
    'characters that are not hexadecimal',
    ...refuseSignatures((good) => [
      [['z'.repeat(64)]],
      [[`${good.slice(0, 62)}zz`], 'at the end of a good one'],
    ]),
  ],
  [
    'body-edited',
    'an edited body under the signature of the one that was sent',
    ...refuseBodies({ status: 'PARTIAL' }, (body) => [
      [body.replace('PARTIAL', 'COMPLETED'), 'another status'],
      [body.replace('}', ',"admin":true}'), 'another field'],
    ]),
  ],
  [
    'body-reformatted',
    'the same JSON in other bytes',
    ...refuseBodies({}, (body) => [
      [JSON.stringify(JSON.parse(body), null, 2), 'indented'],
      [`${body}\n`, 'a newline at its end'],
      [`\uFEFF${body}`, 'a byte order mark'],
    ]),
  ],
  ['verify-before-parsing', 'a forged body that is not JSON', rules.exactBytes, checkVerifiedFirst],
  [
    'constant-time',
    'the time to refuse a signature that is nearly right',
    rules.exactBytes,
    checkConstantTime,
  ],
  [
    'method-get',
    'GET in place of POST',
    rules.post,
    async (test) => {
      for (const signatures of [[], [test.sign('')]]) {
        const reply = await test.post({ body: Buffer.alloc(0), signatures, method: 'GET' })
        const label = signatures.length === 0 ? 'without a signature' : 'with a good signature over no body'
        if (isAccepted(reply)) test.report('advice', `${label}: ${describeReply(reply)}; 405 would be better`)
      }
    },
  ],
])

/** Number of pairs of forged events: enough for the sign test, and few enough for a distant receiver. */
const timedPairCount = 60
const maxTimingMs = 20_000

/**
 * Compares the response times of forged signatures that differ from the good one in the first or only in the last
 * character. Most comparisons that are not constant in time differ by nanoseconds, which HTTP responses do not show:
 * then the case is left unjudged.
 */
async function checkConstantTime(test: CaseRun): Promise<void> {
  const pairs: [number, number][] = []
  let spentMs = 0
  while (pairs.length < timedPairCount && spentMs < maxTimingMs) {
    const body = test.event()
    const good = test.sign(body)
    const wrongLast = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`
    const wrongFirst = `${good.startsWith('0') ? '1' : '0'}${good.slice(1)}`
    const replies: Reply[] = []
    const sendsWrongLastFirst = test.environment.random.fraction() < 0.5
    for (const signature of sendsWrongLastFirst ? [wrongLast, wrongFirst] : [wrongFirst, wrongLast]) {
      const reply = await test.post(test.signedDelivery(body, { signatures: [signature] }))
      if (reply.status === null || isAccepted(reply))
        return test.leaveUnjudged('it accepts forged signatures, or stopped answering')
      replies.push(reply)
    }
    const [firstMs = 0, secondMs = 0] = replies.map(({ milliseconds }) => milliseconds)
    spentMs += firstMs + secondMs
    pairs.push(sendsWrongLastFirst ? [firstMs, secondMs] : [secondMs, firstMs])
  }
  const slowerCount = pairs.filter(([one, other]) => one > other).length
  const result = `a signature that is wrong only in its last character was refused later than one that is wrong in its first in ${slowerCount} of ${pairs.length} pairs`
  if (isSlower(pairs)) {
    const rate = 'by chance in fewer than 1 of 1,000,000 checks'
    test.report(
      'advice',
      `${result}, ${rate}: compare in constant time, with timingSafeEqual or compare_digest`,
    )
  } else
    test.leaveUnjudged(`whether it compares in constant time cannot be seen: ${result}, which may be noise`)
}

/** HMAC pads keys with zero bytes, so the key of an empty secret is that of one zero byte. */
const keyOfEmptySecret = signingKey(new Uint8Array(1))

/** Signatures that an event has to be refused with, their name in a finding, and the level of the rule. */
type RefusedSignatures = readonly [signatures: string[], label?: string, level?: RuleLevel]

/** Makes the run of a case in which an event has to be refused, once with each of the signatures. */
function refuseSignatures(
  variants: (good: string, body: string, test: CaseRun) => readonly RefusedSignatures[],
): readonly [rule: string, run: ReceiverCase['run']] {
  return [
    rules.signature,
    async (test) => {
      const body = test.event()
      for (const [signatures, label, level] of variants(test.sign(body), body, test))
        await test.refuse({ body: Buffer.from(body), signatures }, label, level)
    },
  ]
}

/** Makes the run of a case in which other bodies have to be refused under the signature of an event. */
function refuseBodies(
  fields: Partial<WebhookEvent>,
  variants: (body: string) => readonly [body: string, label: string][],
): readonly [rule: string, run: ReceiverCase['run']] {
  return [
    rules.exactBytes,
    async (test) => {
      const body = test.event(fields)
      for (const [variant, label] of variants(body))
        await test.refuse({ body: Buffer.from(variant), signatures: [test.sign(body)] }, label)
    },
  ]
}

/** Checks that the receiver verifies before it parses: all forged bodies have to get the same status. */
async function checkVerifiedFirst(test: CaseRun): Promise<void> {
  const signatures = ['0'.repeat(64)]
  const json = await test.refuse({ body: Buffer.from(test.event()), signatures }, 'JSON')
  for (const [label, text] of [
    ['not JSON', '{"event":'],
    ['JSON null', 'null'],
  ] as const) {
    const { status } = await test.refuse({ body: Buffer.from(text), signatures }, label)
    if (status === null || json.status === null || status === json.status) continue
    const isFailure = status >= 500 && json.status < 500
    const words = `forged JSON is answered ${json.status} and a forged body that is ${label} ${status}: it is parsed before it is verified`
    test.report(isFailure ? 'must' : 'advice', words)
  }
}
