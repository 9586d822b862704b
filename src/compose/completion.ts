import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Scope } from '../cli/scope.ts'
import type { CompletedCommand } from '../domain/completion/wanted.ts'
import { settingDefinitions } from '../domain/session/setting-keys.ts'
import type { LiveSources } from '../usecases/completion/live-values.ts'
import { orderPlans } from './approval.ts'
import { sessionSources } from './session.ts'
import { hastyStore } from './store.ts'

/** What only this machine knows; `profile`: as the line that is completed names it. Nothing is made or called. */
export function liveSources(
  scope: Scope,
  commands: Readonly<Record<string, CompletedCommand>>,
  profile: string | undefined,
): LiveSources {
  const { context, paths } = scope
  return {
    async packages() {
      const { resolveSession } = await import('../usecases/session/resolve.ts')
      const { openPackageNames } = await import('../store/schemas/package-names.ts')
      const sources = await sessionSources(scope)
      const { baseUrl, email } = await resolveSession({ ...sources, profile: profile ?? sources.profile })
      return openPackageNames({ paths, random: context.random }).get({ baseUrl, userEmail: email })
    },
    profiles: async () => (await sessionSources(scope)).settings.profiles(),
    store: () => hastyStore(scope),
    mappings: async () =>
      (await readdir(join(paths.config, 'mappings')))
        .flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? [])
        .sort(),
    settings: () => settingDefinitions.map(({ key, meaning }) => ({ value: key, about: meaning })),
    plans: async () => (await orderPlans(scope)).waiting(),
    commands: () =>
      Object.entries(commands).map(([id, { summary = '' }]) => ({
        value: id.replaceAll(':', ' '),
        about: summary,
      })),
  }
}
