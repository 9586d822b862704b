import { listFlags } from '../../cli/flags/list.ts'
import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type RuleRow, rulesView } from '../../output/views/sandbox.ts'
import { defaultSandboxRules } from '../../app/sandbox.ts'

export default class SandboxRules extends SandboxCommand<typeof SandboxRules> {
  static override summary = 'List or switch rules that the API document leaves open'
  static override description =
    'Without arguments it lists all rules and their choices; with --base-url it shows the current choices of that sandbox. NAME=CHOICE switches a rule of a running sandbox.'
  static override examples = [
    'refcheck sandbox rules --columns name,current,choices',
    'refcheck sandbox rules support-creates=yes',
  ]
  static override args = {
    choice: Args.string({ multiple: true, description: 'NAME=CHOICE', ignoreStdin: true }),
  }
  static override flags = { ...sandboxFlags, ...listFlags }

  async run(): Promise<void> {
    this.answerList(rulesView(await this.readOrSetRules(this.args.choice ?? [])))
  }

  private async readOrSetRules(choices: readonly string[]): Promise<readonly RuleRow[]> {
    const { 'base-url': baseUrl } = this.flags
    if (choices.length === 0 && baseUrl === undefined) return defaultSandboxRules()
    const invalidChoice = choices.find((each) => !/^[a-z][^=]*=[^=]+$/.test(each))
    this.refuseIf(
      invalidChoice !== undefined,
      `"${invalidChoice?.slice(0, 60)}" is not NAME=CHOICE`,
      'List the rules with: refcheck sandbox rules',
    )
    const sandbox = await this.connect(baseUrl)
    if (choices.length === 0) return (await sandbox.read('rules')) as RuleRow[]
    return (await sandbox.send(
      'rules',
      Object.fromEntries(choices.map((each) => each.split('='))),
    )) as RuleRow[]
  }
}
