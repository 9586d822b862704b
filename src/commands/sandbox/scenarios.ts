import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags, listFormat } from '../../cli/flags/list.ts'
import { scenariosView } from '../../output/views/sandbox-state.ts'
import { sandboxScenarios } from '../../compose/sandbox-facts.ts'

export default class SandboxScenarios extends BaseCommand<typeof SandboxScenarios> {
  static override summary = 'List what a tester can ask for by the recipient’s e-mail.'
  static override description =
    'A request for jane+declined@example.com goes by the scenario "declined"; several tags combine.'
  static override examples = [
    '<%= config.bin %> sandbox scenarios',
    '<%= config.bin %> sandbox scenarios --json',
  ]
  static override flags = listFlags

  async run(): Promise<void> {
    this.answerList(scenariosView(await sandboxScenarios()), listFormat(this.flags))
  }
}
