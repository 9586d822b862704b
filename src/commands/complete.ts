import { BaseCommand } from '../cli/base-command.ts'
import { Flags } from '../cli/oclif.ts'
import { pageNames } from '../cli/topic-pages.ts'
import { liveSources } from '../app/completion.ts'
import { commandManifest } from '../app/reference.ts'
import { profileIn, wantedAt } from '../domain/completion/wanted.ts'
import { RefcheckError } from '../errors/base.ts'
import { candidateLines } from '../output/views/completion.ts'
import { liveValues } from '../usecases/completion/live-values.ts'

/** Asked by the scripts that `refcheck completion` prints, with each TAB. */
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
    const wanted = wantedAt(commands, words, current, pageNames)
    if (wanted.kind === 'candidates') return stdout.write(candidateLines(wanted.candidates))
    if (wanted.kind !== 'live') return stdout.write(`:${wanted.kind}\n`)
    const { of, prefix } = wanted
    try {
      const sources = liveSources(this.app, commands, profileIn(words))
      const found = await liveValues(of, sources, current.slice(prefix.length))
      stdout.write(candidateLines(found.map(({ value, about }) => ({ value: `${prefix}${value}`, about }))))
    } catch (error) {
      // The message is printed by the command itself, when it runs.
      if (!(error instanceof RefcheckError)) throw error
    }
  }
}
