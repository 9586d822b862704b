import { BaseCommand, Flags } from '../../../cli/base-command.ts'
import { eventIdArg } from '../../../cli/flags/webhook.ts'
import { openReceiver } from '../../../app/webhook.ts'
import { replayView } from '../../../output/views/webhook.ts'
import { findEvent, replayEvents, requeueEvents } from '../../../usecases/webhook/inbox.ts'

export default class WebhookEventsReplay extends BaseCommand<typeof WebhookEventsReplay> {
  static override summary = 'Forward received events once more'
  static override description =
    'With --to URL they are delivered now, with the original bytes and signature (exit 10 if one is not acknowledged). Without it they are queued for "webhook listen" with --forward-to or --exec on this store.'
  static override examples = [
    'refcheck webhook events replay 17 --to http://localhost:3000/hooks',
    'refcheck webhook events replay 17 18 19',
  ]
  static override args = {
    id: eventIdArg({ required: true, multiple: true, description: 'ids of events' }),
  }
  static override flags = {
    to: Flags.string({ summary: 'Deliver to this URL', helpValue: 'URL' }),
  }

  async run(): Promise<void> {
    const { to } = this.flags
    const receiver = to === undefined ? undefined : await openReceiver(this.app, to, '--to')
    const inbox = await this.app.service('inbox')
    const events = []
    for (const id of this.args.id) events.push(await findEvent(inbox, id))
    if (receiver === undefined) {
      await requeueEvents(inbox, events)
      return this.answer(replayView(events.map(({ id }) => ({ id, status: null, failure: null }))))
    }
    const { clock } = this.context
    const { replies, failure } = await replayEvents(events, { ...receiver, clock, signal: this.signal })
    this.answer(replayView(replies), failure)
  }
}
