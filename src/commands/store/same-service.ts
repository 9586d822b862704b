import { BaseCommand } from '../../cli/base-command.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { decidedBy } from '../../usecases/session/decided-by.ts'
import { parseBaseUrl } from '../../domain/session/session.ts'
import { sameServiceView } from '../../output/views/store.ts'

export default class StoreSameService extends BaseCommand<typeof StoreSameService> {
  static override summary = 'Record whether two base URLs are the same service'
  static override description =
    'For a service whose base URL changed: people ordered at one URL then count as ordered at the other. Until you record it, rows of people who were ordered at another URL are held.'
  static override examples = [
    '<%= config.bin %> store same-service https://old.example.com https://api.example.com',
    '<%= config.bin %> store same-service https://gw.example.com/staging https://gw.example.com/prod --different',
  ]
  static override args = {
    one: Args.string({ required: true, description: 'base URL' }),
    other: Args.string({ required: true, description: 'base URL' }),
  }
  static override flags = { different: Flags.boolean({ summary: 'Record that they are two services' }) }

  async run(): Promise<void> {
    const { app, flags } = this
    const one = parseBaseUrl(this.args.one, 'ONE')
    const other = parseBaseUrl(this.args.other, 'OTHER')
    this.refuse(one === other, 'the two URLs are the same', 'Give two different URLs.')
    const { waiting } = await app.services('waiting')
    const by = await decidedBy(await app.services('settings', 'env', 'profile'))
    await waiting.sayService([one, other], !flags.different, { at: app.context.clock.now(), by })
    this.answer(sameServiceView([one, other], !flags.different))
  }
}
