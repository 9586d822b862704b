import type { Case } from '../case.ts'
import { expectSame, expectStatus } from '../expect.ts'
import { object, text } from '../shape.ts'

const section = 'GET /v1/ping'

export const pingCases: readonly Case[] = [
  {
    id: 'ping.answer',
    section,
    rule: 'Response 200: data = `{status: string}`, status_message "ok", message "".',
    kind: 'read',
    async run({ probe }) {
      const answer = await probe.get('/v1/ping')
      return [
        ...expectStatus(answer, 200),
        ...object({ status: text })(answer.data, 'data'),
        ...expectSame(
          'status_message',
          (answer.json as { status_message?: unknown } | undefined)?.status_message,
          'ok',
        ),
        ...expectSame('message', answer.message, ''),
      ]
    },
  },
  {
    id: 'ping.no-authentication',
    section,
    rule: 'Authentication: none. No headers, no body. Exempt from throttling.',
    kind: 'read',
    async run({ probe }) {
      const bad = { apiKey: 'x'.repeat(32), userEmail: 'nobody@conformance.invalid' }
      return [
        ...expectStatus(await probe.get('/v1/ping', { as: {}, note: 'without headers' }), 200),
        ...expectStatus(await probe.get('/v1/ping', { as: bad, note: 'with an unknown key' }), 200),
      ]
    },
  },
]
