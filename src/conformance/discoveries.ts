import { type Answer, entries, field } from './answer.ts'
import { NotTestableError } from './case.ts'
import type { Identity } from './target.ts'
import type { Visit } from './visit.ts'

/** A package as far as the suite stands on it. */
export interface ListedPackage {
  id: number
  status: string
  survey: boolean
  /** [check_name, partner_name] of each background check. */
  checks: [unknown, unknown][]
}

/** GET /v1/packages, asked once. */
export function packageList(visit: Visit): Promise<Answer> {
  return visit.once('packages', () => visit.probe.get('/v1/packages'))
}

/** GET /v1/users, asked once. */
export function userList(visit: Visit): Promise<Answer> {
  return visit.once('users', () => visit.probe.get('/v1/users'))
}

/** GET /v1/packages/{id}/schema, asked once. */
export function schemaOf(visit: Visit, id: number): Promise<Answer> {
  return visit.once(`schema ${id}`, () => visit.probe.get(`/v1/packages/${id}/schema`))
}

/** The packages of the list whose id and status can be read. */
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

/** The first package of a status. */
export async function packageOf(visit: Visit, status: string): Promise<ListedPackage> {
  const found = (await packages(visit)).find((each) => each.status === status)
  if (found === undefined) throw new NotTestableError(`this user sees no ${status} package here`)
  return found
}

/** A number no package of the list has. */
export async function unusedPackageId(visit: Visit): Promise<number> {
  const ids = (await packages(visit)).map(({ id }) => id)
  return Math.max(0, ...ids) + 987_654
}

/** The second user; their e-mail is never guessed, because calls would be attributed to an uninvolved person. */
export function secondUser(visit: Visit): Identity {
  const { apiKey, secondEmail: userEmail } = visit.target
  if (userEmail === undefined) {
    throw new NotTestableError('a second user of the organisation is needed: --second-user EMAIL')
  }
  return { apiKey, userEmail }
}

/** A user of another organisation, with its key. */
export function foreignUser({ target }: Visit): Identity {
  if (target.foreignUser !== undefined) return target.foreignUser
  throw new NotTestableError(
    'a key of another organisation is needed: --foreign-user EMAIL, and REFCHECK_FOREIGN_API_KEY',
  )
}

/** An id that no request, check or package answers to. */
export const unknownId = 'c0f0a11c-0000-4000-8000-000000000000'

/** An address without an owner: the domain is reserved (RFC 2606). */
export const unknownEmail = 'nobody@conformance.invalid'
