import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { listProfiles } from '../../usecases/session/profiles.ts'
import { profilesView } from '../../output/views/account.ts'

export default class AuthList extends BaseCommand<typeof AuthList> {
  static override summary = 'List the profiles and where each key is kept'
  static override description = 'Makes no call. Only the last four characters of a key are shown.'
  static override examples = ['refcheck auth list', 'refcheck auth list --json']
  static override flags = listFlags

  async run(): Promise<void> {
    const profiles = await listProfiles(await this.app.sessionSources())
    this.answerList(profilesView(profiles))
  }
}
