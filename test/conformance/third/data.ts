/*
 * A third service, written from the API document alone, which takes every liberty that the text leaves. It imports
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
  of: Organisation
  email: string
  role: string
  active: boolean
  mayCreate: boolean
}

export const users = (): User[] => [
  { of: 'home', email: emails.owner, role: 'Owner', active: true, mayCreate: true },
  { of: 'home', email: emails.member, role: 'Member', active: true, mayCreate: true },
  { of: 'home', email: emails.analyst, role: 'auditor', active: true, mayCreate: false },
  { of: 'home', email: emails.gone, role: 'Admin', active: false, mayCreate: true },
  { of: 'far', email: emails.foreigner, role: 'Owner', active: true, mayCreate: true },
]

export interface Pack {
  of: Organisation
  id: number
  status: string
  ownersOnly: boolean
  survey: boolean
  checks: string[]
  /** By code, the fields with their type; a name that ends in `?` is not required. */
  needs: Record<string, Record<string, string>>
}

const pack = (id: number, status: string, more: Partial<Pack> = {}): Pack => ({
  of: 'home',
  id,
  status,
  ownersOnly: false,
  survey: false,
  checks: ['Identity'],
  needs: {},
  ...more,
})

export const packs: readonly Pack[] = [
  pack(900_001, 'DISABLED'),
  pack(7, 'INACTIVE'),
  pack(12, 'ACTIVE'),
  pack(13, 'ACTIVE', { ownersOnly: true }),
  pack(3, 'ACTIVE', {
    survey: true,
    checks: ['Police', 'Licence'],
    needs: {
      police: { born: 'string', consent: 'boolean', aliases: 'array', 'score?': 'number' },
      licence: { years: 'integer', address: 'object' },
    },
  }),
  pack(55, 'ACTIVE', { of: 'far' }),
]

export interface Order {
  id: string
  pack: Pack
  by: string
  recipient: Record<string, string>
  at: number
}

const minute = 60_000

/** When each check begins and ends, and how; the references of a survey come first. */
function plan({ pack: { survey, checks }, recipient }: Order): { from: number; to: number; end: string }[] {
  const [word] = (recipient['email'] ?? '').split('@')
  const all = checks.map((_, at) => ({ from: (1 + 4 * at) * minute, to: (10 + 5 * at) * minute }))
  if (survey) all.unshift({ from: minute, to: 20 * minute })
  return all.map(({ from, to }, at) => ({
    from,
    to,
    end: word === 'declines' || (word === 'mixed' && at === all.length - 1) ? 'CANCELLED' : 'COMPLETED',
  }))
}

export const failed = (order: Order, now: number): boolean =>
  order.recipient['email']?.startsWith('fails@') === true && now - order.at >= minute

/** The moments at which something about the order changes. */
export const turns = (order: Order): number[] =>
  [minute, ...plan(order).flatMap(({ from, to }) => [from, to])].map((age) => order.at + age)

export function checkStatuses(order: Order, now: number): string[] {
  const age = now - order.at
  return plan(order).map(({ from, to, end }) => (age < from ? 'RECEIVED' : age < to ? 'IN_PROGRESS' : end))
}

export function statusOf(order: Order, now: number): string {
  if (failed(order, now)) return 'ERROR'
  const all = checkStatuses(order, now)
  if (all.every((each) => each === 'RECEIVED')) return 'RECEIVED'
  const done = all.includes('COMPLETED')
  if (all.every((each) => each === 'COMPLETED' || each === 'CANCELLED'))
    return done ? 'COMPLETED' : 'CANCELLED'
  return done ? 'PARTIAL' : 'IN_PROGRESS'
}
