import type { WebhookEvent } from '../../contract/event.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import { type Delivery, eventName, eventText, isAccepted, type Reply } from '../../domain/webhook/delivery.ts'
import { type Finding, type Level, rules } from '../../domain/webhook/receiver-check.ts'
import type { SigningKey } from '../../domain/webhook/verify.ts'
import type { Random } from '../../host/random.ts'

export interface ReceiverCase {
  id: string
  /** What is tried, for people. */
  title: string
  /** The sentence of the document it follows from. */
  rule: string
  run(test: CaseRun): Promise<void>
}

/** As json.dumps of Python writes it. */
function spaced(event: string): string {
  return event.replaceAll(':"', ': "').replaceAll('","', '", "')
}

/** Of a receiver that has the right secret, and takes the wrong bytes. */
export const rewriting =
  'the same event with a space after : and , is accepted: it verifies JSON that it wrote again, as json.dumps of Python does, not the received bytes'

/** What a receiver has to take: everything the service may send. */
export const acceptingCases: readonly ReceiverCase[] = [
  {
    id: 'good-event',
    title: 'a good event',
    rule: rules.acknowledge,
    async run(test) {
      const { status } = await test.accept(test.parcel())
      if (status === null || status < 400 || status >= 500) return
      const reply = await test.tell(test.parcel(spaced(test.event())))
      if (isAccepted(reply)) test.find('must', rewriting)
    },
  },
  {
    id: 'every-status',
    title: 'every status of the document',
    rule: rules.statuses,
    async run(test) {
      for (const status of ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'CANCELLED']) {
        await test.accept(test.parcel(test.event({ status })), status)
      }
    },
  },
  {
    id: 'error-with-reason',
    title: 'ERROR with its reason',
    rule: rules.reason,
    async run(test) {
      const error_reason = 'The request could not be processed.'
      await test.accept(test.parcel(test.event({ status: 'ERROR', error_reason })))
    },
  },
  {
    id: 'error-without-reason',
    title: 'ERROR without a reason',
    rule: rules.reason,
    run: async (test) => void (await test.accept(test.parcel(test.event({ status: 'ERROR' })))),
  },
  {
    id: 'error-reason-odd',
    title: 'reasons that are long, quoted, of many lines',
    rule: rules.reason,
    async run(test) {
      const reasons = ['x'.repeat(8192), 'said "no"\\ \n\t\u0001', '', '<b>${1}</b> {{2}} %s \u2028']
      for (const error_reason of reasons) {
        const what = `a reason of ${error_reason.length} characters`
        await test.accept(test.parcel(test.event({ status: 'ERROR', error_reason })), what)
      }
    },
  },
  {
    id: 'bytes-spaced',
    title: 'a good signature over JSON with spaces and indents',
    rule: rules.exactBytes,
    async run(test) {
      const value = JSON.parse(test.event()) as Record<string, string>
      await test.accept(test.parcel(JSON.stringify(value, null, 2)), 'indented')
      await test.accept(test.parcel(spaced(test.event())), 'a space after : and ,')
    },
  },
  {
    id: 'bytes-escaped',
    title: 'a good signature over JSON with \\u and \\/ escapes',
    rule: rules.exactBytes,
    async run(test) {
      const text = test.event({ status: 'ERROR', error_reason: 'caf\u00e9 1/2' })
      const escaped = text.replace('\u00e9', '\\u00e9').replace('1/2', '1\\/2')
      await test.accept(test.parcel(escaped))
    },
  },
  {
    id: 'bytes-utf8',
    title: 'a good signature over UTF-8 that is not ASCII',
    rule: rules.exactBytes,
    async run(test) {
      const error_reason = 'Pr\u00fcfung \u6771\u4eac \u{1F642}'
      await test.accept(test.parcel(test.event({ status: 'ERROR', error_reason })))
    },
  },
  {
    id: 'bytes-order',
    title: 'a good signature over fields in another order',
    rule: rules.exactBytes,
    async run(test) {
      const value = JSON.parse(test.event()) as Record<string, string>
      const turned = Object.fromEntries(Object.entries(value).reverse())
      await test.accept(test.parcel(JSON.stringify(turned)))
    },
  },
  {
    id: 'bytes-newline',
    title: 'a good signature over a body with line ends of its own',
    rule: rules.exactBytes,
    async run(test) {
      await test.accept(test.parcel(`${test.event()}\n`), 'a newline at its end')
      const lines = test.event().replace('{', '{\r\n').replace('}', '\r\n}')
      await test.accept(test.parcel(lines), 'CRLF between its lines')
    },
  },
  {
    id: 'header-case',
    title: 'the header’s name in lower case, as proxies write it',
    rule: rules.signature,
    async run(test) {
      const signatureName = 'x-service-signature'
      await test.accept(test.parcel(test.event(), { signatureName }))
    },
  },
  {
    id: 'chunked',
    title: 'a chunked body, cut inside a character',
    rule: rules.post,
    async run(test) {
      await test.accept(test.parcel(cutInside(test.event.bind(test)), { chunked: true }))
    },
  },
  {
    id: 'content-type-charset',
    title: 'Content-Type: application/json; charset=utf-8',
    rule: rules.contentType,
    async run(test) {
      const contentType = 'application/json; charset=utf-8'
      await test.tolerate(test.parcel(test.event(), { contentType }))
    },
  },
  {
    id: 'duplicate',
    title: 'the same event twice',
    rule: rules.atLeastOnce,
    async run(test) {
      const parcel = test.parcel()
      await test.accept(parcel, 'the first time')
      await test.accept(parcel, 'the second time')
    },
  },
  {
    id: 'duplicate-at-once',
    title: 'the same event four times at once',
    rule: rules.atLeastOnce,
    async run(test) {
      const parcel = test.parcel()
      await Promise.all([1, 2, 3, 4].map(() => test.accept(parcel)))
    },
  },
  {
    id: 'out-of-order',
    title: 'PARTIAL after COMPLETED, of the same request',
    rule: rules.retried,
    async run(test) {
      const { request_id } = JSON.parse(test.event()) as { request_id: string }
      for (const status of ['COMPLETED', 'PARTIAL']) {
        await test.accept(test.parcel(test.event({ request_id, status })), status)
      }
    },
  },
  {
    id: 'extra-fields',
    title: 'fields that later versions may add',
    rule: rules.versions,
    async run(test) {
      const more = { sequence: 7, request: { tags: ['a', null] }, __meta: {} }
      await test.accept(test.parcel(test.event(more)))
    },
  },
  {
    id: 'unknown-status',
    title: 'a status that is not in the document',
    rule: rules.statuses,
    run: async (test) => void (await test.tolerate(test.parcel(test.event({ status: 'ON_HOLD' })))),
  },
  {
    id: 'unknown-event',
    title: 'an event that is not in the document',
    rule: rules.event,
    run: async (test) => void (await test.tolerate(test.parcel(test.event({ event: 'request.noted' })))),
  },
]

/** A body whose middle byte, where it is cut in two, is not the first of a character. */
function cutInside(event: (fields: { status: string; error_reason: string }) => string): string {
  for (let pad = 0; ; pad += 1) {
    const text = event({ status: 'ERROR', error_reason: `${'x'.repeat(pad)}${'\u00e9'.repeat(100)}` })
    const bytes = Buffer.from(text)
    if (((bytes[(bytes.length + 1) >> 1] ?? 0) & 0xc0) === 0x80) return text
  }
}

/** What a receiver has to refuse: everything the service did not sign like this. */
export const refusingCases: readonly ReceiverCase[] = [
  {
    id: 'signature-missing',
    title: 'no signature',
    ...forged(async (test, body) => void (await test.refuse(test.parcel(body, { signatures: [] })))),
  },
  {
    id: 'signature-empty',
    title: 'an empty signature',
    ...forged(altered(() => '')),
  },
  {
    id: 'signature-wrong',
    title: 'a signature made with another secret',
    ...forged(async (test, body) => {
      await test.refuse(test.parcel(body, { signatures: [test.signAsStranger(body)] }))
      await test.refuse(test.parcel(body, { signatures: ['0'.repeat(64)] }), 'sixty-four zeros')
      const signatures = [test.signWithNothing(body)]
      await test.refuse(test.parcel(body, { signatures }), 'an empty secret')
    }),
  },
  {
    id: 'signature-upper-case',
    title: 'the signature in upper case',
    // The same bytes in other digits: who takes them lets nobody in.
    ...forged(altered((good) => good.toUpperCase(), 'advice')),
  },
  {
    id: 'signature-prefixed',
    title: 'the signature after "sha256="',
    ...forged(altered((good) => `sha256=${good}`)),
  },
  {
    id: 'signature-doubled',
    title: 'the signature twice: in one value, and in two headers',
    ...forged(async (test, body) => {
      const good = test.sign(body)
      await test.refuse(test.parcel(body, { signatures: [good + good] }), 'in one value')
      await test.refuse(test.parcel(body, { signatures: [good, good] }), 'in two headers', 'advice')
    }),
  },
  {
    id: 'signature-cut',
    title: 'the first part of the signature',
    ...forged(async (test, body) => {
      for (const length of [1, 32, 62, 63]) {
        const signatures = [test.sign(body).slice(0, length)]
        await test.refuse(test.parcel(body, { signatures }), `${length} of 64 characters`)
      }
    }),
  },
  {
    id: 'signature-longer',
    title: 'the signature with something after it',
    ...forged(async (test, body) => {
      for (const more of ['00', 'zz', '0']) {
        const signatures = [test.sign(body) + more]
        await test.refuse(test.parcel(body, { signatures }), `followed by "${more}"`)
      }
    }),
  },
  {
    id: 'signature-not-hex',
    title: 'characters that are not hexadecimal',
    ...forged(async (test, body) => {
      await test.refuse(test.parcel(body, { signatures: ['z'.repeat(64)] }))
      const signatures = [`${test.sign(body).slice(0, 62)}zz`]
      await test.refuse(test.parcel(body, { signatures }), 'at the end of a good one')
    }),
  },
  {
    id: 'body-edited',
    title: 'an edited body under the signature of the one that was sent',
    rule: rules.exactBytes,
    async run(test) {
      const body = test.event({ status: 'PARTIAL' })
      const signatures = [test.sign(body)]
      const edited = body.replace('PARTIAL', 'COMPLETED')
      await test.refuse({ body: Buffer.from(edited), signatures }, 'another status')
      const longer = body.replace('}', ',"admin":true}')
      await test.refuse({ body: Buffer.from(longer), signatures }, 'another field')
    },
  },
  {
    id: 'body-reformatted',
    title: 'the same JSON in other bytes',
    rule: rules.exactBytes,
    async run(test) {
      const body = test.event()
      const signatures = [test.sign(body)]
      const indented = JSON.stringify(JSON.parse(body), null, 2)
      await test.refuse({ body: Buffer.from(indented), signatures }, 'indented')
      await test.refuse({ body: Buffer.from(`${body}\n`), signatures }, 'a newline at its end')
      await test.refuse({ body: Buffer.from(`\uFEFF${body}`), signatures }, 'a byte order mark')
    },
  },
  {
    id: 'verify-before-parsing',
    title: 'a forged body that is not JSON',
    rule: rules.exactBytes,
    run: verifiesFirst,
  },
]

function forged(run: (test: CaseRun, body: string) => Promise<void>): Pick<ReceiverCase, 'rule' | 'run'> {
  return { rule: rules.signature, run: (test) => run(test, test.event()) }
}

function altered(change: (good: string) => string, level: Level = 'must') {
  return async (test: CaseRun, body: string): Promise<void> => {
    await test.refuse(test.parcel(body, { signatures: [change(test.sign(body))] }), '', level)
  }
}

/** Who verifies first treats a forged body alike, whatever is in it. */
async function verifiesFirst(test: CaseRun): Promise<void> {
  const signatures = ['0'.repeat(64)]
  const json = await test.refuse({ body: Buffer.from(test.event()), signatures }, 'JSON')
  for (const [what, text] of [
    ['not JSON', '{"event":'],
    ['JSON null', 'null'],
  ] as const) {
    const reply = await test.refuse({ body: Buffer.from(text), signatures }, what)
    const { status } = reply
    if (status === null || json.status === null || status === json.status) continue
    const failed = status >= 500 && json.status < 500
    const words = `forged JSON is answered ${json.status} and a forged body that is ${what} ${status}: it is parsed before it is verified`
    test.find(failed ? 'must' : 'advice', words)
  }
}

/** How many events come side by side. */
const burst = 100

/** What may bring a receiver down comes last. */
export const lastCases: readonly ReceiverCase[] = [
  {
    id: 'burst',
    title: `${burst} events side by side`,
    rule: rules.acknowledge,
    async run(test) {
      await Promise.all(Array.from({ length: burst }, () => test.accept(test.parcel())))
      const lost = test.findings.length
      const [first] = test.findings.splice(0)
      // Nothing says how many may come at once.
      if (first !== undefined)
        test.find('advice', `${lost} of ${burst} were not accepted, one of them: ${first.text}`)
    },
  },
  {
    id: 'signed-oddities',
    title: 'bodies with a good signature that are no event',
    rule: rules.acknowledge,
    async run(test) {
      for (const [what, body] of [
        ['nothing', ''],
        ['not JSON', 'hello'],
        ['JSON null', 'null'],
        ['a list', '[]'],
        ['an empty object', '{}'],
        ['numbers for strings', '{"event":1,"request_id":2,"status":3}'],
      ] as const) {
        await test.survive(test.parcel(body), what)
      }
    },
  },
  {
    id: 'still-good',
    title: 'a good event after all that',
    rule: rules.acknowledge,
    run: async (test) => void (await test.accept(test.parcel())),
  },
]

interface CaseRunOptions {
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
