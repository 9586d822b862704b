import { BaseCommand, Flags } from '../cli/base-command.ts'
import { requestFlag } from '../cli/flags/values.ts'
import { tryToWriteOutput, openOptionalFile, writeOutput } from '../app/output-file.ts'
import {
  countReportFiles,
  countUnread,
  markAsDone,
  overviewScope,
  quotaInUse,
  storePage,
} from '../app/overview.ts'
import { overviewView } from '../output/views/overview.ts'
import { readOverview } from '../usecases/overview/read.ts'

export default class Status extends BaseCommand<typeof Status> {
  static override summary = 'Show what is in flight and what needs a person'
  static override description = [
    'One screen for the morning, over the orders of the organisation in use: what runs, who needs a person with the command for each, new reports, and the quota where it is nearly used up. Reads only the store and makes no call; statuses are as last read.',
    'A request that ended CANCELLED or ERROR is listed until somebody looks at it with request get on a terminal, or marks it with --done.',
  ].join('\n\n')
  static override examples = [
    'refcheck status',
    'refcheck status --all',
    'refcheck status --done 3f2b8c1e',
    'refcheck status --html status.html',
  ]
  static override flags = {
    done: requestFlag({
      summary: 'Mark finished requests as looked at; on a terminal also by name or e-mail',
      multiple: true,
    }),
    all: Flags.boolean({ summary: 'List each person who needs you by name, without a limit' }),
    html: Flags.string({
      summary: 'Also write a page over all orders of the organisation in use',
      helpValue: 'FILE',
    }),
    overwrite: Flags.boolean({ summary: 'Replace the page if it exists', dependsOn: ['html'] }),
  }

  async run(): Promise<void> {
    const { html, overwrite, done } = this.flags
    const file = await openOptionalFile(this.context, html, { overwrite, flag: '--html', hasOverwrite: true })
    const services = await this.app.services(
      'ledger',
      'batches',
      'heldRows',
      'unmatched',
      'redactedInbox',
      'clock',
      'files',
    )
    const scope = await overviewScope(this.app)
    const prompter = this.flags.json ? undefined : this.app.prompter()
    if (done !== undefined) await markAsDone(this.app, done, scope.organisation?.base_url, prompter)
    const overview = await readOverview(services, scope, () => countReportFiles(this.app))
    const quota = await quotaInUse(this.app)
    const closing = await (await this.app.service('store')).rollbacks.findClosing()
    const content = file === undefined ? new Uint8Array() : await storePage(this.app, overview, scope)
    if (file !== undefined && file.path === undefined) return writeOutput(this.app, file, [content])
    const failure = await tryToWriteOutput(this.app, file, () => content, { kind: 'export' })
    if (file !== undefined && failure === undefined) this.app.note(`Page written to ${file.path}`)
    const unread = await countUnread(this.app)
    const options = { now: this.context.clock.now(), showsAll: this.flags.all, unread }
    this.answer(overviewView(overview, quota, closing, options), failure)
  }
}
