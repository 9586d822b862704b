import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { findChosenProfile, fromEnvironment } from '../../usecases/session/chosen-profile.ts'
import { parseBaseUrl } from '../../domain/session/session.ts'
import { sameServiceView } from '../../output/views/store.ts'

/** Environment variables that contain the name of the operating system's user. */
const userVariables = ['USER', 'LOGNAME', 'USERNAME']

export default class StoreSameService extends BaseCommand<typeof StoreSameService> {
  static override summary = 'Record whether two base URLs are the same service'
  static override description =
    'For a service whose base URL changed: people ordered at one URL then count as ordered at the other. Until you record it, rows of people who were ordered at another URL are held.'
  static override examples = [
    'refcheck store same-service https://old.example.com https://api.example.com',
    'refcheck store same-service https://gw.example.com/staging https://gw.example.com/prod --different',
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
    this.refuseIf(one === other, 'the two URLs are the same', 'Give two different URLs.')
    const heldRows = await app.service('heldRows')
    await heldRows.recordSameService([one, other], !flags.different, {
      at: app.context.clock.now(),
      by: await this.#findUserName(),
    })
    this.answer(sameServiceView([one, other], !flags.different))
  }

  /** Returns the user's e-mail, or else the name of the operating system's user. Makes no call to the service. */
  async #findUserName(): Promise<string> {
    const sources = await this.app.services('settings', 'env', 'profile')
    const { env, profile } = sources
    const email = profile === undefined ? fromEnvironment(env, 'REFCHECK_USER_EMAIL') : undefined
    return (
      email ??
      (await findChosenProfile(sources))?.userEmail ??
      userVariables.flatMap((name) => fromEnvironment(env, name) ?? [])[0] ??
      'unknown user'
    )
  }
}
