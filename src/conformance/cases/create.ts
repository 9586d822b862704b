import { type Answer, field } from '../answer.ts'
import { type Case, NotAccepted, unless } from '../case.ts'
import { packageOf, schemaOf, unusedPackageId } from '../discoveries.ts'
import { expectRefusedField, expectSame, expectStatus } from '../expect.ts'
import { acceptedId, bodyFor, plainOrder, recipient, tryOrder } from '../order.ts'
import { object, oneOf, uuid } from '../shape.ts'
import type { Visit } from '../visit.ts'

const section = 'POST /v1/requests'

export const createCases: readonly Case[] = [
  {
    id: 'create.accepted',
    section,
    rule: 'Response 201: data = `{request_id: string (UUID), status: string}` where status is RECEIVED. A 201 confirms acceptance only; it does not mean checks have started or finished.',
    kind: 'create',
    async run(visit) {
      const answer = await firstAnswer(visit)
      const shape = object({ request_id: uuid, status: oneOf('RECEIVED') })
      const wrong = expectStatus(answer, 201)
      return answer.status >= 300 ? wrong : [...wrong, ...shape(answer.data, 'data')]
    },
  },
  {
    id: 'create.no-idempotency',
    section,
    rule: 'Idempotency: no idempotency header is supported, so retrying can create a duplicate request.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'conformance-1' }
      const first = await tryOrder(visit, body, { headers, note: 'with an Idempotency-Key' })
      const second = await tryOrder(visit, body, { headers, note: 'with the same Idempotency-Key' })
      const [one, other] = [acceptedId(first), acceptedId(second)]
      if (one === undefined || other === undefined) {
        return [...expectStatus(first, 201), ...expectStatus(second, 201)]
      }
      return one === other ? [`${second.label}: expected another request_id, got the same`] : []
    },
  },
  {
    id: 'create.longest-phone',
    section: 'Limits',
    rule: 'Recipient phone | E.164, at most 15 digits | POST /v1/requests',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const phone = '+491234567890123'
      const answer = await tryOrder(
        visit,
        { ...body, recipient: { ...recipient, phone } },
        { note: `with the phone ${phone} (15 digits)` },
      )
      return expectStatus(answer, 201)
    },
  },
  {
    id: 'create.information-optional',
    section,
    rule: 'additional_information | array | No | Check-specific information as defined by the package schema.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      unless(body.additional_information === undefined, 'every package that can be ordered needs some')
      const note = 'with an empty additional_information'
      const empty = { ...body, additional_information: [] }
      return expectStatus(await tryOrder(visit, empty, { note }), 201)
    },
  },
  {
    id: 'create.content-type',
    section,
    rule: 'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const plain = { 'Content-Type': 'text/plain' }
      const charset = { 'Content-Type': 'application/json; charset=utf-8' }
      return [
        ...expectStatus(await tryOrder(visit, body, { headers: {}, note: 'without Content-Type' }), 400),
        ...expectStatus(await tryOrder(visit, body, { headers: plain, note: 'as text/plain' }), 400),
        ...expectStatus(await tryOrder(visit, body, { headers: charset, note: 'as JSON in UTF-8' }), 201),
      ]
    },
  },
  {
    id: 'create.package-inactive',
    section: 'Package',
    rule: 'status | string | ACTIVE, INACTIVE or DISABLED. Only ACTIVE packages can be used to create requests.',
    kind: 'create',
    async run(visit) {
      const pack = await packageOf(visit, 'INACTIVE')
      const body = await bodyFor(visit, pack, recipient)
      const answer = await tryOrder(visit, body, { note: 'for an INACTIVE package' })
      // Where its schema is not to be read, the body may lack something besides.
      const unread = (await schemaOf(visit, pack.id)).status !== 200
      return unread ? expectStatus(answer, 400) : expectRefusedField(answer, 'package_id')
    },
  },
  {
    id: 'create.package-disabled',
    section,
    rule: '404 | Package not found, disabled, or not available to the organisation and user.',
    kind: 'create',
    async run(visit) {
      const body = await bodyFor(visit, await packageOf(visit, 'DISABLED'), recipient)
      return expectStatus(await tryOrder(visit, body, { note: 'for a DISABLED package' }), 404)
    },
  },
  {
    id: 'create.package-unknown',
    section,
    rule: '404 | Package not found, disabled, or not available to the organisation and user.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const unknown = { ...body, package_id: await unusedPackageId(visit) }
      return expectStatus(await tryOrder(visit, unknown, { note: 'for an unknown package' }), 404)
    },
  },
  {
    id: 'create.readable',
    section: 'GET /v1/requests/{request_id}',
    rule: 'request_id | string (UUID) | From request creation.',
    kind: 'create',
    async run(visit) {
      const { body, requestId } = await plainOrder(visit)
      const answer = await visit.probe.get(`/v1/requests/${requestId}`)
      const wrong = expectStatus(answer, 200)
      if (wrong.length > 0) return wrong
      const { data } = answer
      return [
        ...expectSame('request_id', field(data, 'request_id'), requestId),
        ...expectSame('package_id', field(data, 'package_id'), body.package_id),
        ...(['first_name', 'last_name', 'email', 'phone'] as const).flatMap((name) =>
          expectSame(`recipient.${name}`, field(data, 'recipient', name), body.recipient[name]),
        ),
      ]
    },
  },
]

/** What an order was answered with; a refusal for what was sent, or for the plan, is no breach. */
async function firstAnswer(visit: Visit): Promise<Answer> {
  try {
    return (await plainOrder(visit)).answer
  } catch (error) {
    const answer = error instanceof NotAccepted ? error.answer : undefined
    if (answer === undefined || answer.status === 400 || answer.status === 403) throw error
    return answer
  }
}
