import { BaseCommand } from '../cli/base-command.ts'
import { Flags } from '../cli/oclif.ts'
import { failureToWrite, openOutputFile, writeOutput } from '../app/output-file.ts'
import { filesOfReports, quotaInUse } from '../app/overview.ts'
import { rememberWritten } from '../usecases/store/files-of-person.ts'
import { storePage } from '../app/people-page.ts'
import { overviewView } from '../output/views/overview.ts'
import { readOverview } from '../usecases/overview/read.ts'

export default class Status extends BaseCommand<typeof Status> {
  static override summary = 'Show what is in flight and what needs a person'
  static override description =
    'One screen for the morning, over everything this store knows: requests and batches in flight, what needs a person with the command for each, the quota, and the newest reports. Reads only the store and makes no call; statuses are as last read.'
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --html status.html']
  static override flags = {
    html: Flags.string({
      summary: 'Also write a page over everything this store knows',
      helpValue: 'FILE',
    }),
    overwrite: Flags.boolean({ summary: 'Replace the page if it exists', dependsOn: ['html'] }),
  }

  async run(): Promise<void> {
    const { html, overwrite } = this.flags
    const options = { overwrite, binary: false, flag: '--html', hasOverwrite: true }
    const file = html === undefined ? undefined : await openOutputFile(this.context, html, options)
    const services = await this.app.services('ledger', 'batches', 'inboxToShow', 'clock')
    const overview = await readOverview(services, () => filesOfReports(this.app))
    const quota = await quotaInUse(this.app)
    const content = file === undefined ? new Uint8Array() : await storePage(this.app, overview)
    if (file !== undefined && file.path === undefined) return writeOutput(this.context, file, [content])
    const failure = await failureToWrite(this.context, file, () => content)
    if (file?.path !== undefined && failure === undefined) {
      await rememberWritten(await this.app.services('written', 'reporter'), {
        path: file.path,
        kind: 'export',
      })
      this.app.note(`Page written to ${file.path}`)
    }
    this.answer(overviewView(overview, quota, this.context.clock.now()), failure)
  }
}
