import { once, type Scope } from '../cli/scope.ts'
import { parsePackageId } from '../cli/flags/identifiers.ts'
import { requireOwnFolders } from '../disk/private-modes.ts'
import { type Environment, variable } from '../host/env.ts'
import { childEnvironment } from '../host/environment-secrets.ts'
import type { Session } from '../domain/session/session.ts'
import type { SessionSources } from '../usecases/session/resolve.ts'

/** Profiles, settings, secrets and the environment: what sessions are made of. */
export const sessionSources = once(async (scope: Scope): Promise<SessionSources> => {
  const [{ openSettings }, { openSecrets }] = await Promise.all([
    import('../store/config/settings.ts'),
    import('../store/config/secrets.ts'),
  ])
  const { paths, note: onNotice, secrets } = scope
  const { clock, random, env } = scope.context
  return {
    profile: scope.options.profile,
    env,
    settings: openSettings({ paths, clock, onNotice }),
    secrets: openSecrets({ paths, clock, random, known: secrets, keychain: keychainUse(env), onNotice }),
  }
})

/**
 * Reads the key and the webhook secret of the profile in use, so that they are redacted from what a command without calls of
 * its own prints. Those in the environment are known from the start.
 */
export async function learnSecrets(scope: Scope): Promise<void> {
  const { settings, secrets, env, profile } = await sessionSources(scope)
  const name = profile ?? variable(env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
  if (name === undefined) return
  for (const secret of ['api-key', 'webhook-secret'] as const) {
    await secrets.read(name, secret).catch(() => undefined)
  }
}

/** The environment of a program that this one starts. Secrets that a keychain does not hand out cannot be looked for. */
export async function environmentOfChild(scope: Scope): Promise<Record<string, string | undefined>> {
  const { settings, secrets } = await sessionSources(scope)
  const profiles = await settings.profiles().catch(() => new Map<string, unknown>())
  for (const profile of profiles.keys()) {
    for (const name of ['api-key', 'webhook-secret'] as const) {
      await secrets.read(profile, name).catch(() => undefined)
    }
  }
  return childEnvironment(scope.context.env, scope.secrets)
}

/** A folder of its own is a world of its own: keys of a demo or a test do not go into the person's keychain. */
function keychainUse(env: Environment): 'try' | 'never' {
  return variable(env, 'REFCHECK_CONFIG_DIR') === undefined ? 'try' : 'never'
}

/** Whose calls they are: the key goes to the origin it was saved for and nowhere else. */
export async function session(scope: Scope): Promise<Session> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  // A folder that cannot be trusted is an error also where a read could do without its caches.
  requireOwnFolders(scope.paths.data)
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
  const named = variable(scope.context.env, 'REFCHECK_ACCOUNT')
  if (named === undefined) return (await setting(scope, 'account')) ?? ''
  const { accountName } = await import('../domain/session/setting-keys.ts')
  return accountName(named)
}
