import { type Answer, type Fields, fieldsOf, toItems, readValue } from './answer.ts'
import { NotAcceptedError, requireItems, requireTestable, requireValue } from './case.ts'
import type { Identity } from './target.ts'
import type { CaseContext } from './case-context.ts'

/** The members of a package that the suite uses. */
export interface ListedPackage {
  id: number
  status: string
  hasSurvey: boolean
  /** Names of the background checks: [check_name, partner_name]. */
  checks: [unknown, unknown][]
}

/** Returns the response to GET /v1/packages, which is called once per run. */
export function listPackages(context: CaseContext): Promise<Answer> {
  return context.once('packages', () => context.probe.get('/v1/packages'))
}

/** Returns the response to GET /v1/users, which is called once per run. */
export function listUsers(context: CaseContext): Promise<Answer> {
  return context.once('users', () => context.probe.get('/v1/users'))
}

/** Returns the response to GET /v1/packages/{id}/schema, which is called once per run and package. */
export function readSchema(context: CaseContext, id: number): Promise<Answer> {
  return context.once(`schema ${id}`, () => context.probe.get(`/v1/packages/${id}/schema`))
}

/** Returns the entries of additional_information in a package's schema. */
export const readInformation = async (context: CaseContext, id: number): Promise<Fields[]> =>
  informationIn((await readSchema(context, id)).data)

export const informationIn = (schema: unknown): Fields[] =>
  toItems(readValue(schema, 'fields', 'additional_information'))

/** Returns the packages in the list that have a valid id and status. */
export async function readPackages(context: CaseContext): Promise<ListedPackage[]> {
  return parsePackages(await listPackages(context))
}

export function parsePackages(answer: Answer): ListedPackage[] {
  return toItems(answer.fields.packages).flatMap(({ id, status, details }) => {
    if (typeof id !== 'number' || typeof status !== 'string') return []
    const checks = toItems(readValue(details, 'background_checks'))
    return {
      id,
      status,
      hasSurvey: (readValue(details, 'reference_survey') ?? null) !== null,
      checks: checks.map((check): [unknown, unknown] => [check.check_name, check.partner_name]),
    }
  })
}

/** Returns the packages with this status. Throws a NotTestableError if there is none. */
export async function requirePackages(
  context: CaseContext,
  status: string,
): Promise<[ListedPackage, ...ListedPackage[]]> {
  const packages = (await readPackages(context)).filter((each) => each.status === status)
  return requireItems(packages, `this user sees no ${status} package here`)
}

/** Returns an id that no package of the list has. */
export async function findUnusedPackageId(context: CaseContext): Promise<number> {
  const ids = (await readPackages(context)).map(({ id }) => id)
  return Math.max(0, ...ids) + 987_654
}

/**
 * Returns the second user. Its e-mail must be given as an option, because calls as a guessed user would be
 * attributed to an uninvolved person.
 */
export function requireSecondUser(context: CaseContext): Identity {
  const { apiKey, secondEmail } = context.target
  const reason = 'a second user of the organisation is needed: --second-user EMAIL'
  return { apiKey, userEmail: requireValue(secondEmail, reason) }
}

/** Returns a user of another organisation with the key of that organisation. */
export const requireForeignUser = ({ target }: CaseContext): Identity =>
  requireValue(
    target.foreignUser,
    'a key of another organisation is needed: --foreign-user EMAIL, and REFCHECK_FOREIGN_API_KEY',
  )

/** An id that no request, check or package has. */
export const unknownId = 'c0f0a11c-0000-4000-8000-000000000000'

export const unknownKey = 'x'.repeat(32)

/** An e-mail address that cannot exist: its domain is reserved (RFC 2606). */
export const unknownEmail = 'nobody@conformance.invalid'

/** Body of POST /v1/requests. */
export interface Body {
  package_id: number
  recipient: Recipient
  additional_information?: Information[]
}

interface Recipient {
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
export interface AcceptedOrder {
  pack: ListedPackage
  body: Body
  answer: Answer
  requestId: string
}

/**
 * A recipient that is not a real person. The domain is reserved (RFC 2606), and the Australian regulator
 * reserves the number for fiction.
 */
export const recipient: Recipient = {
  first_name: 'Conformance',
  last_name: 'Example',
  email: 'conformance@example.com',
  phone: '+61491570006',
}

/** Returns the e-mail of the recipient whose requests have the usual end. */
const usualEmail = ({ target }: CaseContext): string => target.recipients?.usual ?? recipient.email

/** Maximum number of packages that are tried before the suite reports that no order is accepted. */
const maxTries = 4

/** Returns an accepted order of the package with the fewest requirements. The order is made once per run. */
export function orderSimplestPackage(context: CaseContext): Promise<AcceptedOrder> {
  return context.once('plain order', async () =>
    orderFirstAccepted(context, await sortPackagesByWeight(context), usualEmail(context)),
  )
}

/** Makes a new order of the package with the most checks and fields. */
export async function orderRichestPackage(
  context: CaseContext,
  email = usualEmail(context),
): Promise<AcceptedOrder> {
  return orderFirstAccepted(context, (await sortPackagesByWeight(context)).reverse(), email)
}

/** Returns the body for a package with only the fields that its schema requires. */
export async function buildBody(
  context: CaseContext,
  pack: ListedPackage,
  email = recipient.email,
): Promise<Body> {
  const information = (await readInformation(context, pack.id)).flatMap(({ code, fields: definitions }) => {
    const fields = createSampleFields(definitions)
    return typeof code === 'string' && Object.keys(fields).length > 0 ? [{ code, fields }] : []
  })
  const body = { package_id: pack.id, recipient: { ...recipient, email } }
  return information.length === 0 ? body : { ...body, additional_information: information }
}

/** An order without content. It can be sent to any deployment, because none accepts it. */
export const emptyOrder = {}

/** Sends an order. The suite sends all orders by this function. */
export function sendOrder(
  context: CaseContext,
  body: unknown,
  options?: Parameters<CaseContext['probe']['post']>[1],
) {
  const isAllowed = context.canCreate || body === emptyOrder
  requireTestable(isAllowed, 'creating requests was not allowed: add --allow-create')
  return context.probe.post(body, options)
}

/** Returns the request_id of a 2xx response; undefined for any other response. */
export function findAcceptedId(answer: Answer): string | undefined {
  const id = readValue(answer.data, 'request_id')
  return answer.status >= 200 && answer.status < 300 && typeof id === 'string' ? id : undefined
}

/** Returns the ACTIVE packages sorted by weight. With the last package, most rules can be tested. */
async function sortPackagesByWeight(context: CaseContext): Promise<ListedPackage[]> {
  requireTestable(context.canCreate, 'creating requests was not allowed: add --allow-create')
  const weightedPackages: { pack: ListedPackage; weight: number }[] = []
  for (const pack of await requirePackages(context, 'ACTIVE'))
    weightedPackages.push({ pack, weight: await weighPackage(context, pack) })
  return weightedPackages.sort((a, b) => a.weight - b.weight).map(({ pack }) => pack)
}

/**
 * Returns the weight of a package. A survey together with several checks weighs most, then the number of
 * field types, then the number of checks.
 */
async function weighPackage(context: CaseContext, { id, hasSurvey, checks }: ListedPackage): Promise<number> {
  const types = (await readInformation(context, id))
    .flatMap(({ fields }) => Object.values(fieldsOf(fields)))
    .map((definition) => readValue(definition, 'type'))
  const varietyWeight = hasSurvey && checks.length > 1 ? 1000 : 0
  return varietyWeight + 20 * new Set(types).size + checks.length + (hasSurvey ? 1 : 0)
}

async function orderFirstAccepted(
  context: CaseContext,
  candidates: ListedPackage[],
  email: string,
): Promise<AcceptedOrder> {
  let lastAnswer: Answer | undefined
  for (const pack of candidates.slice(0, maxTries)) {
    const body = await buildBody(context, pack, email)
    const answer = await sendOrder(context, body)
    const requestId = findAcceptedId(answer)
    if (requestId !== undefined) return { pack, body, answer, requestId }
    lastAnswer = answer
  }
  throw new NotAcceptedError(lastAnswer)
}

/**
 * Returns a value for each required field of an entry of a schema; for each field if `includesOptional` is
 * true.
 */
export function createSampleFields(fields: unknown, includesOptional = false): Record<string, unknown> {
  const selected = Object.entries(fieldsOf(fields)).filter(
    ([, definition]) => includesOptional || readValue(definition, 'required') === true,
  )
  return Object.fromEntries(selected.map(([name, definition]) => [name, createSampleValue(name, definition)]))
}

/** Returns a value of the field's type in the schema. */
function createSampleValue(name: string, definition: unknown): unknown {
  switch (readValue(definition, 'type')) {
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
        `${name.replaceAll('_', ' ')} ${String(readValue(definition, 'description'))}`,
      )
        ? '1990-04-30'
        : 'Example'
  }
}
