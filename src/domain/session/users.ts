import { emailAddress } from '../../contract/request.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { User } from '../../contract/user.ts'

/** A user's e-mail as it goes into a header. Only what looks like one is repeated in the InvalidInputError. */
export function checkEmail(text: string, source = 'the e-mail'): string {
  const refused = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'email' })
  const hint = 'Give the e-mail of an active user of the organisation, like ana@example.com.'
  if (text === '') throw refused('is empty', hint)
  if (/\p{Cc}/u.test(text)) throw refused('contains a line break or another control character', hint)
  if (text.length > 254) throw refused(`has ${text.length} characters; at most 254 are allowed`, hint)
  if (emailAddress.safeParse(text).success) return text
  throw refused(text.includes('@') ? `"${text}" is not valid` : 'is not valid', hint)
}

/** The users of a role and of a team, selected by its name or id; case does not matter. */
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
