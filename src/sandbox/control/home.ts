import type { Organisation } from '../service/records.ts'
import type { State } from '../service/state.ts'
import type { HomeOrganisation } from './switches.ts'

/** Whose key the sandbox gives out: the first organisation's, with its first active owner or else user. */
export function homeOf(state: State): HomeOrganisation {
  const [first] = state.organisations.values()
  if (first === undefined) throw new RangeError('a sandbox needs an organisation')
  return { organisationId: first.id, ...credentialsOf(first, state) }
}

/** The same of another organisation, empty where there is none. */
export function otherOrganisationOf(state: State): { apiKey: string; userEmail: string } {
  const [, second] = state.organisations.values()
  return second === undefined ? { apiKey: '', userEmail: '' } : credentialsOf(second, state)
}

function credentialsOf({ id }: Organisation, state: State): { apiKey: string; userEmail: string } {
  const keys = [...state.keys.values()].filter((key) => key.organisation_id === id)
  const users = [...(state.users.get(id)?.values() ?? [])]
  const active = users.filter((user) => user.active)
  const user = active.find(({ role }) => role === 'owner') ?? active[0] ?? users[0]
  return {
    apiKey: (keys.findLast(({ revoked }) => !revoked) ?? keys.at(-1))?.key ?? '',
    userEmail: user?.email ?? '',
  }
}
