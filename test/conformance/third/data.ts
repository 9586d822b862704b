/*
 * A third service, written from the API document alone, which uses every freedom that the document leaves. It imports
 * nothing of src.
 */

export const keys = { home: 'k3y-HOME-0123456789-abcdefghijKL', far: 'k3y-FAR--0123456789-abcdefghijKL' }
export const secret = 'third-secret'
export const emails = {
  owner: 'lea@third.example.org',
  member: 'max@third.example.org',
  analyst: 'ann@third.example.org',
  gone: 'gil@third.example.org',
  foreigner: 'sam@far.example.org',
}

export type Organisation = 'home' | 'far'

export interface User {
  organisation: Organisation
  email: string
  role: string
  active: boolean
  mayCreate: boolean
}

export const createUsers = (): User[] => [
  { organisation: 'home', email: emails.owner, role: 'Owner', active: true, mayCreate: true },
  { organisation: 'home', email: emails.member, role: 'Member', active: true, mayCreate: true },
  { organisation: 'home', email: emails.analyst, role: 'auditor', active: true, mayCreate: false },
  { organisation: 'home', email: emails.gone, role: 'Admin', active: false, mayCreate: true },
  { organisation: 'far', email: emails.foreigner, role: 'Owner', active: true, mayCreate: true },
]

export interface Package {
  organisation: Organisation
  id: number
  status: string
  ownersOnly: boolean
  hasSurvey: boolean
  checks: string[]
  /** By check code, the fields with their types. A field whose name ends in `?` is not required. */
  fieldsByCheck: Record<string, Record<string, string>>
}

const createPackage = (id: number, status: string, changes: Partial<Package> = {}): Package => ({
  organisation: 'home',
  id,
  status,
  ownersOnly: false,
  hasSurvey: false,
  checks: ['Identity'],
  fieldsByCheck: {},
  ...changes,
})

export const packages: readonly Package[] = [
  createPackage(900_001, 'DISABLED'),
  createPackage(7, 'INACTIVE'),
  createPackage(12, 'ACTIVE'),
  createPackage(13, 'ACTIVE', { ownersOnly: true }),
  createPackage(3, 'ACTIVE', {
    hasSurvey: true,
    checks: ['Police', 'Licence'],
    fieldsByCheck: {
      police: { born: 'string', consent: 'boolean', aliases: 'array', 'score?': 'number' },
      licence: { years: 'integer', address: 'object' },
    },
  }),
  createPackage(55, 'ACTIVE', { organisation: 'far' }),
]

export interface Order {
  id: string
  package: Package
  requester: string
  recipient: Record<string, string>
  orderedAt: number
}

const minute = 60_000

/** Returns when each check starts and ends, and its last status. The reference check comes first. */
function planChecks({
  package: { hasSurvey, checks },
  recipient,
}: Order): { from: number; to: number; end: string }[] {
  const [localPart] = (recipient['email'] ?? '').split('@')
  const plans = checks.map((_, index) => ({ from: (1 + 4 * index) * minute, to: (10 + 5 * index) * minute }))
  if (hasSurvey) plans.unshift({ from: minute, to: 20 * minute })
  return plans.map(({ from, to }, index) => ({
    from,
    to,
    end:
      localPart === 'declines' || (localPart === 'mixed' && index === plans.length - 1)
        ? 'CANCELLED'
        : 'COMPLETED',
  }))
}

export const hasFailed = (order: Order, now: number): boolean =>
  order.recipient['email']?.startsWith('fails@') === true && now - order.orderedAt >= minute

/** Returns the times at which the status of the order or of a check changes. */
export const listChangeTimes = (order: Order): number[] =>
  [minute, ...planChecks(order).flatMap(({ from, to }) => [from, to])].map((age) => order.orderedAt + age)

export function checkStatuses(order: Order, now: number): string[] {
  const age = now - order.orderedAt
  return planChecks(order).map(({ from, to, end }) =>
    age < from ? 'RECEIVED' : age < to ? 'IN_PROGRESS' : end,
  )
}

export function requestStatusAt(order: Order, now: number): string {
  if (hasFailed(order, now)) return 'ERROR'
  const statuses = checkStatuses(order, now)
  if (statuses.every((each) => each === 'RECEIVED')) return 'RECEIVED'
  const hasCompleted = statuses.includes('COMPLETED')
  if (statuses.every((each) => each === 'COMPLETED' || each === 'CANCELLED'))
    return hasCompleted ? 'COMPLETED' : 'CANCELLED'
  return hasCompleted ? 'PARTIAL' : 'IN_PROGRESS'
}
