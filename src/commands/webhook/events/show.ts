import { BaseCommand } from '../../../cli/base-command.ts'
import { eventIdArg } from '../../../cli/flags/webhook.ts'
import { toDetailedEvent } from '../../../domain/webhook/events.ts'
import { eventView } from '../../../output/views/webhook.ts'
import { findEvent } from '../../../usecases/webhook/inbox.ts'

export default class WebhookEventsShow extends BaseCommand<typeof WebhookEventsShow> {
  static override summary = 'Show one received event with its exact body'
  static override examples = ['refcheck webhook events show 17']
  static override args = { id: eventIdArg({ required: true, description: 'id of an event' }) }

  async run(): Promise<void> {
    const inbox = await this.app.service('redactedInbox')
    this.answer(eventView(toDetailedEvent(await findEvent(inbox, this.args.id))))
  }
}
