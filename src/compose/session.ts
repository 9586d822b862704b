import type { SessionSources } from '../usecases/session/resolve.ts'
import { variable } from '../host/env.ts'
import type { Paths } from '../host/paths.ts'
import { openSecrets } from '../store/config/secrets.ts'
import { openSettings } from '../store/config/settings.ts'
import type { Context } from '../cli/context.ts'

/** Profiles, settings, secrets and the environment, as this process finds them. */
export function openSessionSources(
  { clock, env, random }: Context,
  paths: Paths,
  profile: string | undefined,
  onNotice: (notice: string) => void,
): SessionSources {
  return {
    profile,
    env,
    settings: openSettings({ paths, clock, onNotice }),
    secrets: openSecrets({ paths, clock, random, keychain: keychainUse(env), onNotice }),
  }
}

/** A folder of its own is a world of its own: keys of a demo or a test do not go into the person's keychain. */
function keychainUse(env: Context['env']): 'try' | 'never' {
  return variable(env, 'REFCHECK_CONFIG_DIR') === undefined ? 'try' : 'never'
}
