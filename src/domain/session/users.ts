import { emailAddress } from '../../contract/request.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { User } from '../../contract/user.ts'

/**
 * Returns the e-mail of a user unchanged. Throws InvalidInputError if it is not valid; the error repeats the text
 * only if it contains an @, because another text may be a secret that was pasted by mistake.
 */
export function checkEmail(text: string, source = 'the e-mail'): string {
  const invalid = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'email' })
  const hint = 'Give the e-mail of an active user of the organisation, like ana@example.com.'
  if (text === '') throw invalid('is empty', hint)
  if (/\p{Cc}/u.test(text)) throw invalid('contains a line break or another control character', hint)
  if (text.length > 254) throw invalid(`has ${text.length} characters; at most 254 are allowed`, hint)
  if (emailAddress.safeParse(text).success) return text
  throw invalid(text.includes('@') ? `"${text}" is not valid` : 'is not valid', hint)
}

/**
 * Returns the users with a role and a team. The team is given by name or id; upper and lower case are not
 * distinguished.
 */
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
