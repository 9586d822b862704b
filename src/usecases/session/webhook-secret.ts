import { findChosenProfile } from './chosen-profile.ts'
import { checkWebhookSecret, type SecretStorage } from '../../domain/session/session.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Environment } from '../../host/process.ts'
import type { SessionSources } from './resolve.ts'

const variableName = 'REFCHECK_WEBHOOK_SECRET'

export interface WebhookSecret {
  secret: string
  from: 'environment' | SecretStorage
}

/**
 * Returns the secret that events are signed with: that of the profile named by `--profile`, or
 * REFCHECK_WEBHOOK_SECRET (empty is an error), or else that of the current profile. Throws a UsageError if there is
 * none.
 */
export async function resolveWebhookSecret(sources: SessionSources): Promise<WebhookSecret> {
  if (sources.profile === undefined && sources.env[variableName] !== undefined)
    return readFromEnvironment(sources.env)
  const profile = await findChosenProfile(sources)
  const storedSecret =
    profile === undefined ? undefined : await sources.secrets.read(profile.name, 'webhook-secret')
  if (storedSecret !== undefined) {
    const source = `the kept webhook secret of profile "${profile?.name}"`
    return { secret: checkWebhookSecret(storedSecret.value, source), from: storedSecret.storage }
  }
  return readFromEnvironment(sources.env)
}

function readFromEnvironment(env: Environment): WebhookSecret {
  const text = env[variableName]
  if (text !== undefined) return { secret: checkWebhookSecret(text, variableName), from: 'environment' }
  throw new UsageError('the webhook secret is missing', {
    hint: `Set ${variableName}, or save it with: refcheck config set webhook-secret`,
  })
}

/** Stores the secret of the profile in the same kind of storage as its key. */
export async function saveWebhookSecret(
  sources: SessionSources & { secret: string },
): Promise<{ profile: string; storage: SecretStorage }> {
  const secret = checkWebhookSecret(sources.secret)
  const { name } = await requireProfileForSecret(sources)
  const insecure = (await sources.secrets.storage(name, 'api-key')) === 'file'
  return { profile: name, storage: await sources.secrets.save(name, 'webhook-secret', secret, { insecure }) }
}

/** Removes the secret of the profile; `removed` is false if it had none. */
export async function removeWebhookSecret(
  sources: SessionSources,
): Promise<{ profile: string; removed: boolean; left_in_keychain: boolean }> {
  const { name } = await requireProfileForSecret(sources)
  const { removed, leftInKeychain } = await sources.secrets.remove(name, 'webhook-secret')
  return { profile: name, removed: removed.length > 0, left_in_keychain: leftInKeychain.length > 0 }
}

async function requireProfileForSecret(sources: SessionSources): Promise<{ name: string }> {
  const profile = await findChosenProfile(sources)
  if (profile !== undefined) return profile
  throw new UsageError('no profile to save the webhook secret in', {
    hint: `Log in with: refcheck auth login (or set ${variableName})`,
  })
}

/**
 * Returns all other secrets that are stored here, with a name for messages. Secrets that cannot be read are left out.
 */
export async function listOtherSecrets(
  { env, settings, secrets }: SessionSources,
  secretInUse: string,
): Promise<{ name: string; secret: string }[]> {
  const profiles = [...(await settings.profiles()).keys()].sort()
  const profileSecrets = await Promise.all(
    profiles.map(async (name) => {
      const storedSecret = await secrets.read(name, 'webhook-secret').catch(() => undefined)
      return { name: `the secret of profile "${name}"`, secret: storedSecret?.value ?? '' }
    }),
  )
  const allSecrets = [
    { name: `the secret in ${variableName}`, secret: env[variableName] ?? '' },
    ...profileSecrets,
  ]
  return allSecrets.filter(({ secret }) => secret !== '' && secret !== secretInUse)
}
