import { isAccepted, type Reply } from '../../domain/webhook/delivery.ts'
import { isSlower, type Level, rules } from '../../domain/webhook/receiver-check.ts'
import { type CaseRun, type ReceiverCase, describeReply } from './receiver-case-run.ts'

/** As json.dumps of Python writes it. */
function spaced(event: string): string {
  return event.replaceAll(':"', ': "').replaceAll('","', '", "')
}

function inBase64(signature: string): string {
  return Buffer.from(signature, 'hex').toString('base64')
}

/** Of a receiver that has the right secret, and takes the wrong bytes. */
export const rewriting =
  'the same event with a space after : and , is accepted: it verifies JSON that it wrote again, as json.dumps of Python does, not the received bytes'

/** Of a receiver that has the right secret, and expects another encoding. */
export const expectsBase64 =
  'the same event with its signature in base64 is accepted: it compares with a base64 digest, and the service sends lowercase hex'

/** What a receiver has to take: everything the service may send. */
export const acceptingCases: readonly ReceiverCase[] = [
  {
    id: 'good-event',
    title: 'a good event',
    rule: rules.acknowledge,
    async run(test) {
      const { status } = await test.accept(test.parcel())
      if (status === null || status < 400 || status >= 500) return
      const reply = await test.post(test.parcel(spaced(test.event())))
      if (isAccepted(reply)) test.find('must', rewriting)
      const body = test.event()
      const encoded = await test.post(test.parcel(body, { signatures: [inBase64(test.sign(body))] }))
      if (isAccepted(encoded)) test.find('must', expectsBase64)
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
      await test.refuse(test.parcel(body, { signatures: [test.signWithOtherKey(body)] }))
      await test.refuse(test.parcel(body, { signatures: ['0'.repeat(64)] }), 'sixty-four zeros')
      const signatures = [test.signWithNothing(body)]
      await test.refuse(test.parcel(body, { signatures }), 'an empty secret')
    }),
  },
  {
    id: 'signature-upper-case',
    title: 'the signature in upper case',
    // The same bytes in other digits, so that accepting them lets in no forged event.
    ...forged(altered((good) => good.toUpperCase(), 'advice')),
  },
  {
    id: 'signature-base64',
    title: 'the signature in base64',
    ...forged(altered(inBase64, 'advice')),
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
  {
    id: 'constant-time',
    title: 'the time to refuse a signature that is nearly right',
    rule: rules.exactBytes,
    run: comparesInConstantTime,
  },
  {
    id: 'method-get',
    title: 'GET in place of POST',
    rule: rules.post,
    async run(test) {
      for (const signatures of [[], [test.sign('')]]) {
        const reply = await test.post({ body: Buffer.alloc(0), signatures, method: 'GET' })
        const what = signatures.length === 0 ? 'without a signature' : 'with a good signature over no body'
        if (isAccepted(reply)) test.find('advice', `${what}: ${describeReply(reply)}; 405 would be better`)
      }
    },
  },
]

/** Pairs of forged events: enough for the sign test, few enough for a receiver far away. */
const timedPairs = 60
const maxTimingMs = 20_000

/**
 * Times forged signatures that differ from the good one in the first or only in the last character. Most comparisons that are
 * not constant in time differ by nanoseconds, which no answer over HTTP shows: then nothing is claimed.
 */
async function comparesInConstantTime(test: CaseRun): Promise<void> {
  const pairs: [number, number][] = []
  let spentMs = 0
  while (pairs.length < timedPairs && spentMs < maxTimingMs) {
    const body = test.event()
    const good = test.sign(body)
    const last = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`
    const first = `${good.startsWith('0') ? '1' : '0'}${good.slice(1)}`
    const replies: Reply[] = []
    const isLastFirst = test.isHeads()
    for (const signature of isLastFirst ? [last, first] : [first, last]) {
      const reply = await test.post(test.parcel(body, { signatures: [signature] }))
      if (reply.status === null || isAccepted(reply))
        return test.leave('it accepts forged signatures, or stopped answering')
      replies.push(reply)
    }
    const [one = 0, other = 0] = replies.map(({ milliseconds }) => milliseconds)
    spentMs += one + other
    pairs.push(isLastFirst ? [one, other] : [other, one])
  }
  const slower = pairs.filter(([one, other]) => one > other).length
  const found = `a signature that is wrong only in its last character was refused later than one that is wrong in its first in ${slower} of ${pairs.length} pairs`
  if (isSlower(pairs)) {
    const rate = 'by chance in fewer than 1 of 1,000,000 checks'
    test.find('advice', `${found}, ${rate}: compare in constant time, with timingSafeEqual or compare_digest`)
  } else test.leave(`whether it compares in constant time cannot be seen: ${found}, which may be noise`)
}

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
