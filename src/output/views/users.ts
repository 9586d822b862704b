import type { User } from '../../contract/user.ts'
import type { ListView } from '../view.ts'

/** `all`: before a choice was made among them, to say what there is to choose. */
export function usersView(users: readonly User[], all: readonly User[]): ListView<User> {
  const known = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || '-'
  return {
    rows: users,
    columns: [
      { name: 'email', value: (row) => row.email, whole: true },
      { name: 'first_name', value: (row) => row.first_name },
      { name: 'last_name', value: (row) => row.last_name },
      { name: 'role', value: (row) => row.role },
      { name: 'teams', value: (row) => row.teams.map((team) => team.name).join('; ') },
      { name: 'job_title', value: (row) => row.job_title },
      { name: 'permissions', value: (row) => row.permissions?.join('; '), extra: true },
      { name: 'id', value: (row) => row.id, extra: true },
    ],
    empty: [
      'No users match.',
      `Roles: ${known(all.map(({ role }) => role))}`,
      `Teams: ${known(all.flatMap(({ teams }) => teams.map(({ name }) => name)))}`,
    ].join('\n'),
  }
}
