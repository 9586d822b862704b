import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/values.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { selectUsers } from '../../domain/session/users.ts'
import { usersView } from '../../output/views/account.ts'

export default class UsersList extends BaseCommand<typeof UsersList> {
  static override summary = 'List the active users of the organisation'
  static override description =
    'Any of these e-mails can be the user e-mail of a profile. The list has no pages.'
  static override examples = [
    'refcheck users list --role owner',
    'refcheck users list --csv --columns email,role',
  ]
  static override flags = {
    role: Flags.string({ summary: 'Only users with this role', helpValue: 'ROLE' }),
    team: Flags.string({ summary: 'Only members of this team, by name or id', helpValue: 'TEAM' }),
    ...listFlags,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { role, team } = this.flags
    const service = await this.app.service('api')
    const users = await service.listUsers(this.signal)
    this.answerList(usersView(selectUsers(users, { role, team }), users))
  }
}
