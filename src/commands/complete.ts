import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { BaseCommand, Flags } from '../cli/base-command.ts'
import { pageNames } from '../cli/topic-pages.ts'
import { commandManifest } from '../app/reference.ts'
import { sandboxStories } from '../app/sandbox.ts'
import { type CompletedCommand, findProfile, findCompletionTarget } from '../domain/completion/wanted.ts'
import { settingDefinitions } from '../domain/session/setting-keys.ts'
import { RefcheckError } from '../errors/kinds.ts'
import { candidateLines } from '../output/views/completion.ts'
import { type ValueSources, findValues } from '../usecases/completion/stored-values.ts'

/** The scripts of `refcheck completion` run this command at each TAB. */
export default class Complete extends BaseCommand<typeof Complete> {
  static override summary = 'Tell a shell what may stand where the cursor is'
  static override hidden = true
  static override strict = false
  static override flags = {
    current: Flags.string({ summary: 'Word that was begun', helpValue: 'TEXT', default: '' }),
  }

  async run(): Promise<void> {
    const { stdout } = this.context.streams
    const commands = commandManifest()
    const words = this.argv.slice(this.argv.indexOf('--') + 1)
    const { current } = this.flags
    const target = findCompletionTarget(commands, words, current, pageNames)
    if (target.kind === 'candidates') return stdout.write(candidateLines(target.candidates))
    // `:files` or `:folders`: the script of the shell then completes paths.
    if (target.kind !== 'stored') return stdout.write(`:${target.kind}\n`)
    const { source, prefix } = target
    try {
      const values = await findValues(
        source,
        this.#createSources(commands, words),
        current.slice(prefix.length),
      )
      stdout.write(
        candidateLines(values.map(({ value, description }) => ({ value: `${prefix}${value}`, description }))),
      )
    } catch (error) {
      // The error is not printed: the completed command reports it when it runs.
      if (!(error instanceof RefcheckError)) throw error
    }
  }

  /** Returns the sources of values that are stored on this machine. They create no files and call no service. */
  #createSources(
    commands: Readonly<Record<string, CompletedCommand>>,
    words: readonly string[],
  ): ValueSources {
    const { app } = this
    return {
      async packages() {
        const { resolveSession } = await import('../usecases/session/resolve.ts')
        const sources = await app.sessionSources()
        const { baseUrl, email: userEmail } = await resolveSession({
          ...sources,
          profile: findProfile(words) ?? sources.profile,
        })
        return (await app.service('packageNames')).get({ baseUrl, userEmail }, 'active')
      },
      profiles: async () => (await app.service('settings')).profiles(),
      store: () => app.openStoreForCompletion(),
      mappings: async () =>
        (await readdir(join(app.paths.config, 'mappings')))
          .flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? [])
          .sort(),
      settings: () => settingDefinitions.map(({ key, meaning }) => ({ value: key, description: meaning })),
      plans: async () => (await app.service('plans')).listWaiting(),
      commands: () =>
        Object.entries(commands).map(([id, { summary = '' }]) => ({
          value: id.replaceAll(':', ' '),
          description: summary,
        })),
      sandboxStories: async () =>
        (await sandboxStories()).map(({ name, what }) => ({ value: name, description: what })),
    }
  }
}
