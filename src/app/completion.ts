import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { App } from './app.ts'
import type { CompletedCommand } from '../domain/completion/wanted.ts'
import { settingDefinitions } from '../domain/session/setting-keys.ts'
import type { LiveSources } from '../usecases/completion/live-values.ts'
import { sandboxStories } from './sandbox-facts.ts'

/** What only this machine knows; `profile`: as the line that is completed names it. Nothing is made or called. */
export function liveSources(
  app: App,
  commands: Readonly<Record<string, CompletedCommand>>,
  profile: string | undefined,
): LiveSources {
  const { context, paths } = app
  return {
    async packages() {
      const { resolveSession } = await import('../usecases/session/resolve.ts')
      const { openPackageNames } = await import('../store/schemas/package-names.ts')
      const sources = await app.services('settings', 'secrets', 'env', 'profile')
      const { baseUrl, email } = await resolveSession({ ...sources, profile: profile ?? sources.profile })
      return openPackageNames({ paths, random: context.random }).get({ baseUrl, userEmail: email })
    },
    profiles: async () => (await app.services('settings')).settings.profiles(),
    store: () => app.storeWithShortTimeouts(),
    mappings: async () =>
      (await readdir(join(paths.config, 'mappings')))
        .flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? [])
        .sort(),
    settings: () => settingDefinitions.map(({ key, meaning }) => ({ value: key, about: meaning })),
    plans: async () => (await app.services('plans')).plans.waiting(),
    commands: () =>
      Object.entries(commands).map(([id, { summary = '' }]) => ({
        value: id.replaceAll(':', ' '),
        about: summary,
      })),
    stories: async () => (await sandboxStories()).map(({ name, what }) => ({ value: name, about: what })),
  }
}
