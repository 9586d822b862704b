import type { User } from '../../contract/user.ts'

/** The users of a role and of a team, told by its name or id; case does not matter. */
export function selectUsers(
  users: readonly User[],
  { role, team }: { role: string | undefined; team: string | undefined },
): User[] {
  const wantedRole = role?.toLowerCase()
  const wantedTeam = team?.toLowerCase()
  return users.filter((user) => {
    if (wantedRole !== undefined && user.role.toLowerCase() !== wantedRole) return false
    if (wantedTeam === undefined) return true
    return user.teams.some(
      (each) => each.id.toLowerCase() === wantedTeam || each.name.toLowerCase() === wantedTeam,
    )
  })
}
