import { BaseCommand } from '../../../cli/base-command.ts'
import { eventFilter, eventFlags } from '../../../cli/flags/webhook.ts'
import { listFlags, listFormat } from '../../../cli/flags/list.ts'
import { Flags } from '../../../cli/oclif.ts'
import { openOutputFile, writeOutput } from '../../../app/output-file.ts'
import { eventListView } from '../../../output/views/webhook.ts'
import { exportLines, listEvents } from '../../../usecases/webhook/inbox.ts'
import { requestIdOf } from '../../../app/ids.ts'
import { rememberWritten } from '../../../usecases/store/files-of-person.ts'

export default class WebhookEventsList extends BaseCommand<typeof WebhookEventsList> {
  static override summary = 'List the received events, oldest first'
  static override description =
    'Lists what "refcheck webhook listen" recorded in this store. --export writes the events with body and signature, one JSON object per line, as "webhook events import" and "webhook verify --all" read them.'
  static override examples = [
    '<%= config.bin %> webhook events list --since 1d',
    '<%= config.bin %> webhook events list --status COMPLETED --export completed.ndjson',
  ]
  static override flags = {
    ...eventFlags,
    ...listFlags,
    export: Flags.string({
      summary: 'Write the events to a file, with bodies and signatures',
      helpValue: 'FILE',
    }),
  }

  async run(): Promise<void> {
    const { inboxToShow: inbox } = await this.app.services('inboxToShow')
    const { 'request-id': named } = this.flags
    const requestId = named === undefined ? undefined : await requestIdOf(this.app, named)
    const filter = { ...eventFilter(this.flags), requestId }
    const { export: file } = this.flags
    if (file !== undefined) {
      const isNew = { overwrite: false, binary: false, flag: '--export' }
      const opened = await openOutputFile(this.context, file, isNew)
      await writeOutput(this.context, opened, exportLines(inbox, filter))
      if (opened.path === undefined) return
      await rememberWritten(await this.app.services('written', 'reporter'), {
        path: opened.path,
        kind: 'export',
      })
    }
    this.answerList(eventListView(await listEvents(inbox, filter)), listFormat(this.flags))
  }
}
