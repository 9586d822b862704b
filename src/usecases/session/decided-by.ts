import { chosenProfile, fromEnvironment, type ProfileSources } from './chosen-profile.ts'

/** Names of the variables in which an operating system says whose process this is. */
const osUser = ['USER', 'LOGNAME', 'USERNAME']

/** Who says something that needs no call of the service: the user's e-mail, else who uses this machine. */
export async function decidedBy(sources: ProfileSources): Promise<string> {
  const { env } = sources
  const email =
    sources.profile === undefined
      ? (fromEnvironment(env, 'REFCHECK_USER_EMAIL') ?? (await chosenProfile(sources))?.userEmail)
      : (await chosenProfile(sources))?.userEmail
  return email ?? osUser.flatMap((name) => fromEnvironment(env, name) ?? [])[0] ?? 'unknown user'
}
