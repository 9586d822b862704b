import { BaseCommand, Flags } from '../../../cli/base-command.ts'
import { eventFilter, eventFlags } from '../../../cli/flags/webhook.ts'
import { listFlags } from '../../../cli/flags/list.ts'
import { openOutputFile, writeOutput } from '../../../app/output-file.ts'
import { eventListView } from '../../../output/views/webhook.ts'
import { exportLines, listEvents } from '../../../usecases/webhook/inbox.ts'
import { completeRequestId } from '../../../app/ids.ts'

export default class WebhookEventsList extends BaseCommand<typeof WebhookEventsList> {
  static override summary = 'List the received events, oldest first'
  static override description =
    'Lists what "refcheck webhook listen" recorded in this store. --export writes the events with body and signature, one JSON object per line, as "webhook events import" and "webhook verify --all" read them.'
  static override examples = [
    'refcheck webhook events list --since 1d',
    'refcheck webhook events list --status COMPLETED --export completed.ndjson',
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
    const inbox = await this.app.service('redactedInbox')
    const { 'request-id': typedId } = this.flags
    const requestId = typedId === undefined ? undefined : await completeRequestId(this.app, typedId)
    const filter = { ...eventFilter(this.flags), requestId }
    const { export: file } = this.flags
    if (file !== undefined) {
      const outputFile = await openOutputFile(this.context, file, { flag: '--export' })
      await writeOutput(this.app, outputFile, exportLines(inbox, filter), { kind: 'export' })
      // The export went to stdout, so no list follows it there.
      if (outputFile.path === undefined) return
    }
    this.answerList(eventListView(await listEvents(inbox, filter)))
  }
}
