import { once, type Scope } from '../cli/scope.ts'
import { parsePackageId } from '../cli/flags/identifiers.ts'
import { type Environment, variable } from '../host/env.ts'
import type { Session } from '../domain/session/session.ts'
import type { SessionSources } from '../usecases/session/resolve.ts'

/** Profiles, settings, secrets and the environment: what sessions are made of. */
export const sessionSources = once(async (scope: Scope): Promise<SessionSources> => {
  const [{ openSettings }, { openSecrets }] = await Promise.all([
    import('../store/config/settings.ts'),
    import('../store/config/secrets.ts'),
  ])
  const { paths, note: onNotice } = scope
  const { clock, random, env } = scope.context
  return {
    profile: scope.options.profile,
    env,
    settings: openSettings({ paths, clock, onNotice }),
    secrets: openSecrets({ paths, clock, random, keychain: keychainUse(env), onNotice }),
  }
})

/** A folder of its own is a world of its own: keys of a demo or a test do not go into the person's keychain. */
function keychainUse(env: Environment): 'try' | 'never' {
  return variable(env, 'REFCHECK_CONFIG_DIR') === undefined ? 'try' : 'never'
}

/** Whose calls they are: the key goes to the origin it was saved for and nowhere else. */
export async function session(scope: Scope): Promise<Session> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  return resolveSession(await sessionSources(scope))
}

/** Who says something that needs no call of the service. */
export async function decidedBy(scope: Scope): Promise<string> {
  const { decidedBy: who } = await import('../usecases/session/decided-by.ts')
  return who(await sessionSources(scope))
}

/** A default of `refcheck config`, for the profile in use or for all. */
export async function setting(scope: Scope, key: string): Promise<string | undefined> {
  const { settings, env, profile } = await sessionSources(scope)
  const name = profile ?? variable(env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
  return settings.value(key, name)
}

export async function packageSetting(scope: Scope): Promise<number | undefined> {
  const text = await setting(scope, 'package')
  return text === undefined ? undefined : parsePackageId(text, 'the setting "package"')
}

/** REFCHECK_ACCOUNT, else the setting: whose people are ordered, one for all unless somebody names more. */
export async function account(scope: Scope): Promise<string> {
  return variable(scope.context.env, 'REFCHECK_ACCOUNT') ?? (await setting(scope, 'account')) ?? ''
}
