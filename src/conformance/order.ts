import { type Answer, entries, field } from './answer.ts'
import { NotAccepted, unless } from './case.ts'
import { isObject } from './shape.ts'
import type { Identity } from './target.ts'
import type { Visit } from './visit.ts'

/** The members of a package that the suite uses. */
export interface ListedPackage {
  id: number
  status: string
  survey: boolean
  /** Names of the background checks: [check_name, partner_name]. */
  checks: [unknown, unknown][]
}

/** GET /v1/packages, called once per run. */
export function packageList(visit: Visit): Promise<Answer> {
  return visit.once('packages', () => visit.probe.get('/v1/packages'))
}

/** GET /v1/users, called once per run. */
export function userList(visit: Visit): Promise<Answer> {
  return visit.once('users', () => visit.probe.get('/v1/users'))
}

/** GET /v1/packages/{id}/schema, called once per run and package. */
export function schemaOf(visit: Visit, id: number): Promise<Answer> {
  return visit.once(`schema ${id}`, () => visit.probe.get(`/v1/packages/${id}/schema`))
}

/** Returns the packages of the list that have a valid id and status. */
export async function packages(visit: Visit): Promise<ListedPackage[]> {
  return listed(await packageList(visit))
}

export function listed(answer: Answer): ListedPackage[] {
  return entries(field(answer.data, 'packages')).flatMap((entry) => {
    const [id, status] = [field(entry, 'id'), field(entry, 'status')]
    if (typeof id !== 'number' || typeof status !== 'string') return []
    const checks = entries(field(entry, 'details', 'background_checks'))
    return {
      id,
      status,
      survey: (field(entry, 'details', 'reference_survey') ?? null) !== null,
      checks: checks.map((check): [unknown, unknown] => [
        field(check, 'check_name'),
        field(check, 'partner_name'),
      ]),
    }
  })
}

/** Returns the first package with a status; not testable if there is none. */
export async function packageOf(visit: Visit, status: string): Promise<ListedPackage> {
  const found = (await packages(visit)).find((each) => each.status === status)
  unless(found !== undefined, `this user sees no ${status} package here`)
  return found
}

/** Returns an id that no package of the list has. */
export async function unusedPackageId(visit: Visit): Promise<number> {
  const ids = (await packages(visit)).map(({ id }) => id)
  return Math.max(0, ...ids) + 987_654
}

/**
 * Returns the second user. Its e-mail must be given as an option: calls as a guessed user would be attributed to an
 * uninvolved person.
 */
export function secondUser(visit: Visit): Identity {
  const { apiKey, secondEmail: userEmail } = visit.target
  unless(userEmail !== undefined, 'a second user of the organisation is needed: --second-user EMAIL')
  return { apiKey, userEmail }
}

/** Returns a user of another organisation with its key. */
export function foreignUser({ target }: Visit): Identity {
  unless(
    target.foreignUser !== undefined,
    'a key of another organisation is needed: --foreign-user EMAIL, and REFCHECK_FOREIGN_API_KEY',
  )
  return target.foreignUser
}

/** An id that no request, check or package has. */
export const unknownId = 'c0f0a11c-0000-4000-8000-000000000000'

/** An e-mail address that cannot exist: its domain is reserved (RFC 2606). */
export const unknownEmail = 'nobody@conformance.invalid'

/** Body of POST /v1/requests. */
export interface Body {
  package_id: number
  recipient: Recipient
  additional_information?: Information[]
}

export interface Recipient {
  first_name: string
  last_name: string
  email: string
  phone: string
}

export interface Information {
  code: string
  fields: Record<string, unknown>
}

/** An accepted order and the response to it. */
export interface Ordered {
  pack: ListedPackage
  body: Body
  answer: Answer
  requestId: string
}

/**
 * A recipient that is no real person: the domain is reserved (RFC 2606), and the number is reserved for fiction by
 * the Australian regulator.
 */
export const recipient: Recipient = {
  first_name: 'Conformance',
  last_name: 'Example',
  email: 'conformance@example.com',
  phone: '+61491570006',
}

/** Returns the recipient of requests with the usual end. */
export function usualRecipient({ target }: Visit): Recipient {
  return { ...recipient, email: target.recipients?.usual ?? recipient.email }
}

/** Most packages that are tried before the suite reports that no order is accepted. */
const maxTries = 4

/** Returns an accepted order of the package with the fewest requirements; made once per run. */
export function plainOrder(visit: Visit): Promise<Ordered> {
  return visit.once('plain order', async () =>
    firstAccepted(visit, await lightestFirst(visit), usualRecipient(visit)),
  )
}

/** Makes a new order of the package with the most checks and fields for this recipient. */
export async function richOrder(visit: Visit, to: Recipient): Promise<Ordered> {
  return firstAccepted(visit, (await lightestFirst(visit)).reverse(), to)
}

/** Builds the body for a package with only what its schema requires. */
export async function bodyFor(visit: Visit, pack: ListedPackage, to: Recipient): Promise<Body> {
  const schema = (await schemaOf(visit, pack.id)).data
  const information = entries(field(schema, 'fields', 'additional_information')).flatMap((entry) => {
    const code = field(entry, 'code')
    const fields = samples(field(entry, 'fields'))
    return typeof code === 'string' && Object.keys(fields).length > 0 ? [{ code, fields }] : []
  })
  const body = { package_id: pack.id, recipient: to }
  return information.length === 0 ? body : { ...body, additional_information: information }
}

/** Sends an order; the suite sends all orders by this function. */
export function tryOrder(visit: Visit, body: unknown, options?: Parameters<Visit['probe']['post']>[1]) {
  unless(visit.mayCreate, 'creating requests was not allowed: add --allow-create')
  return visit.probe.post(body, options)
}

/** Returns the request_id of a 2xx response; undefined for any other. */
export function acceptedId(answer: Answer): string | undefined {
  const id = field(answer.data, 'request_id')
  return answer.status >= 200 && answer.status < 300 && typeof id === 'string' ? id : undefined
}

/** Returns the ACTIVE packages, sorted by how many rules of the document a request for them can test. */
async function lightestFirst(visit: Visit): Promise<ListedPackage[]> {
  unless(visit.mayCreate, 'creating requests was not allowed: add --allow-create')
  const active = (await packages(visit)).filter(({ status }) => status === 'ACTIVE')
  unless(active.length > 0, 'this user sees no ACTIVE package here')
  const weighed: { pack: ListedPackage; weight: number }[] = []
  for (const pack of active) weighed.push({ pack, weight: await weigh(visit, pack) })
  return weighed.sort((a, b) => a.weight - b.weight).map(({ pack }) => pack)
}

/**
 * Returns the weight of a package: first whether it has a survey and several checks, then its number of field types,
 * then its number of checks.
 */
async function weigh(visit: Visit, { id, survey, checks }: ListedPackage): Promise<number> {
  const schema = (await schemaOf(visit, id)).data
  const types = entries(field(schema, 'fields', 'additional_information'))
    .flatMap((entry) => Object.values(field(entry, 'fields') ?? {}))
    .map((definition) => field(definition, 'type'))
  const varied = survey && checks.length > 1 ? 1000 : 0
  return varied + 20 * new Set(types).size + checks.length + (survey ? 1 : 0)
}

async function firstAccepted(visit: Visit, candidates: ListedPackage[], to: Recipient): Promise<Ordered> {
  let last: Answer | undefined
  for (const pack of candidates.slice(0, maxTries)) {
    const body = await bodyFor(visit, pack, to)
    const answer = await tryOrder(visit, body)
    const requestId = acceptedId(answer)
    if (requestId !== undefined) return { pack, body, answer, requestId }
    last = answer
  }
  throw new NotAccepted(last)
}

/** Returns values for the required fields of a schema's entry, or for all fields. */
export function samples(fields: unknown, all = false): Record<string, unknown> {
  if (!isObject(fields)) return {}
  const wanted = Object.entries(fields).filter(
    ([, definition]) => all || field(definition, 'required') === true,
  )
  return Object.fromEntries(wanted.map(([name, definition]) => [name, sample(name, definition)]))
}

/** Returns a value of the type in the schema. */
function sample(name: string, definition: unknown): unknown {
  switch (field(definition, 'type')) {
    case 'integer':
      return 5
    case 'number':
      return 1.5
    case 'boolean':
      return false
    case 'array':
      return ['Example']
    case 'object':
      return { example: 'Example' }
    default:
      return /\b(date|born|birthday|yyyy)\b/i.test(
        `${name.replaceAll('_', ' ')} ${String(field(definition, 'description'))}`,
      )
        ? '1990-04-30'
        : 'Example'
  }
}
