import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { scenariosView } from '../../output/views/sandbox.ts'
import { sandboxScenarios } from '../../app/sandbox.ts'

export default class SandboxScenarios extends BaseCommand<typeof SandboxScenarios> {
  static override summary = 'List the scenarios that a recipient’s e-mail can ask for'
  static override description =
    'A request for jane+declined@example.com follows the scenario "declined". Several tags can be combined.'
  static override examples = ['refcheck sandbox scenarios', 'refcheck sandbox scenarios --json']
  static override flags = listFlags

  async run(): Promise<void> {
    this.answerList(scenariosView(await sandboxScenarios()))
  }
}
