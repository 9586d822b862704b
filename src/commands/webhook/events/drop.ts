import { BaseCommand } from '../../../cli/base-command.ts'
import { eventIdArg } from '../../../cli/flags/webhook.ts'
import { droppedView } from '../../../output/views/webhook.ts'
import { dropEvents, findEvent } from '../../../usecases/webhook/inbox.ts'

export default class WebhookEventsDrop extends BaseCommand<typeof WebhookEventsDrop> {
  static override summary = 'Give up forwarding received events'
  static override description =
    'An event that no receiver acknowledges holds up the later ones of its request. A dropped event is kept and no longer forwarded; "webhook events replay" forwards it again.'
  static override examples = ['refcheck webhook events drop 17']
  static override args = {
    id: eventIdArg({ required: true, multiple: true, description: 'ids of events' }),
  }

  async run(): Promise<void> {
    const inbox = await this.app.service('inbox')
    const events = []
    for (const id of this.args.id) events.push(await findEvent(inbox, id))
    await dropEvents(inbox, events)
    this.answer(droppedView(events.map(({ id }) => id)))
  }
}
