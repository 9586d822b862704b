import type { ExamCase } from './case.ts'
import { isAccepted } from '../../../domain/webhook/delivery.ts'
import { rules } from '../../../domain/webhook/exam-report.ts'

/** As json.dumps of Python writes it. */
function spaced(event: string): string {
  return event.replaceAll(':"', ': "').replaceAll('","', '", "')
}

/** Of a receiver that has the right secret, and takes the wrong bytes. */
export const rewriting =
  'the same event with a space after : and , is accepted: it verifies JSON that it wrote again, as json.dumps of Python does, not the received bytes'

/** What a receiver has to take: everything the service may send. */
export const acceptingCases: readonly ExamCase[] = [
  {
    id: 'good-event',
    title: 'a good event',
    rule: rules.acknowledge,
    async run(sitting) {
      const { status } = await sitting.accept(sitting.parcel())
      if (status === null || status < 400 || status >= 500) return
      const reply = await sitting.tell(sitting.parcel(spaced(sitting.event())))
      if (isAccepted(reply)) sitting.find('must', rewriting)
    },
  },
  {
    id: 'every-status',
    title: 'every status of the document',
    rule: rules.statuses,
    async run(sitting) {
      for (const status of ['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'CANCELLED']) {
        await sitting.accept(sitting.parcel(sitting.event({ status })), status)
      }
    },
  },
  {
    id: 'error-with-reason',
    title: 'ERROR with its reason',
    rule: rules.reason,
    async run(sitting) {
      const error_reason = 'The request could not be processed.'
      await sitting.accept(sitting.parcel(sitting.event({ status: 'ERROR', error_reason })))
    },
  },
  {
    id: 'error-without-reason',
    title: 'ERROR without a reason',
    rule: rules.reason,
    run: async (sitting) => void (await sitting.accept(sitting.parcel(sitting.event({ status: 'ERROR' })))),
  },
  {
    id: 'error-reason-odd',
    title: 'reasons that are long, quoted, of many lines',
    rule: rules.reason,
    async run(sitting) {
      const reasons = ['x'.repeat(8192), 'said "no"\\ \n\t\u0001', '', '<b>${1}</b> {{2}} %s \u2028']
      for (const error_reason of reasons) {
        const what = `a reason of ${error_reason.length} characters`
        await sitting.accept(sitting.parcel(sitting.event({ status: 'ERROR', error_reason })), what)
      }
    },
  },
  {
    id: 'bytes-spaced',
    title: 'a good signature over JSON with spaces and indents',
    rule: rules.exactBytes,
    async run(sitting) {
      const value = JSON.parse(sitting.event()) as Record<string, string>
      await sitting.accept(sitting.parcel(JSON.stringify(value, null, 2)), 'indented')
      await sitting.accept(sitting.parcel(spaced(sitting.event())), 'a space after : and ,')
    },
  },
  {
    id: 'bytes-escaped',
    title: 'a good signature over JSON with \\u and \\/ escapes',
    rule: rules.exactBytes,
    async run(sitting) {
      const text = sitting.event({ status: 'ERROR', error_reason: 'caf\u00e9 1/2' })
      const escaped = text.replace('\u00e9', '\\u00e9').replace('1/2', '1\\/2')
      await sitting.accept(sitting.parcel(escaped))
    },
  },
  {
    id: 'bytes-utf8',
    title: 'a good signature over UTF-8 that is not ASCII',
    rule: rules.exactBytes,
    async run(sitting) {
      const error_reason = 'Pr\u00fcfung \u6771\u4eac \u{1F642}'
      await sitting.accept(sitting.parcel(sitting.event({ status: 'ERROR', error_reason })))
    },
  },
  {
    id: 'bytes-order',
    title: 'a good signature over fields in another order',
    rule: rules.exactBytes,
    async run(sitting) {
      const value = JSON.parse(sitting.event()) as Record<string, string>
      const turned = Object.fromEntries(Object.entries(value).reverse())
      await sitting.accept(sitting.parcel(JSON.stringify(turned)))
    },
  },
  {
    id: 'bytes-newline',
    title: 'a good signature over a body with line ends of its own',
    rule: rules.exactBytes,
    async run(sitting) {
      await sitting.accept(sitting.parcel(`${sitting.event()}\n`), 'a newline at its end')
      const lines = sitting.event().replace('{', '{\r\n').replace('}', '\r\n}')
      await sitting.accept(sitting.parcel(lines), 'CRLF between its lines')
    },
  },
  {
    id: 'header-case',
    title: 'the header’s name in lower case, as proxies write it',
    rule: rules.signature,
    async run(sitting) {
      const signatureName = 'x-service-signature'
      await sitting.accept(sitting.parcel(sitting.event(), { signatureName }))
    },
  },
  {
    id: 'chunked',
    title: 'a chunked body, cut inside a character',
    rule: rules.post,
    async run(sitting) {
      await sitting.accept(sitting.parcel(cutInside(sitting.event.bind(sitting)), { chunked: true }))
    },
  },
  {
    id: 'content-type-charset',
    title: 'Content-Type: application/json; charset=utf-8',
    rule: rules.contentType,
    async run(sitting) {
      const contentType = 'application/json; charset=utf-8'
      await sitting.tolerate(sitting.parcel(sitting.event(), { contentType }))
    },
  },
  {
    id: 'duplicate',
    title: 'the same event twice',
    rule: rules.atLeastOnce,
    async run(sitting) {
      const parcel = sitting.parcel()
      await sitting.accept(parcel, 'the first time')
      await sitting.accept(parcel, 'the second time')
    },
  },
  {
    id: 'duplicate-at-once',
    title: 'the same event four times at once',
    rule: rules.atLeastOnce,
    async run(sitting) {
      const parcel = sitting.parcel()
      await Promise.all([1, 2, 3, 4].map(() => sitting.accept(parcel)))
    },
  },
  {
    id: 'out-of-order',
    title: 'PARTIAL after COMPLETED, of the same request',
    rule: rules.retried,
    async run(sitting) {
      const { request_id } = JSON.parse(sitting.event()) as { request_id: string }
      for (const status of ['COMPLETED', 'PARTIAL']) {
        await sitting.accept(sitting.parcel(sitting.event({ request_id, status })), status)
      }
    },
  },
  {
    id: 'extra-fields',
    title: 'fields that later versions may add',
    rule: rules.versions,
    async run(sitting) {
      const more = { sequence: 7, request: { tags: ['a', null] }, __meta: {} }
      await sitting.accept(sitting.parcel(sitting.event(more)))
    },
  },
  {
    id: 'unknown-status',
    title: 'a status that is not in the document',
    rule: rules.statuses,
    run: async (sitting) =>
      void (await sitting.tolerate(sitting.parcel(sitting.event({ status: 'ON_HOLD' })))),
  },
  {
    id: 'unknown-event',
    title: 'an event that is not in the document',
    rule: rules.event,
    run: async (sitting) =>
      void (await sitting.tolerate(sitting.parcel(sitting.event({ event: 'request.noted' })))),
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
