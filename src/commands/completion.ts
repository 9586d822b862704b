import { Args, BaseCommand } from '../cli/base-command.ts'
import { completionScriptView, completionSetupView, shells } from '../output/views/completion.ts'

export default class Completion extends BaseCommand<typeof Completion> {
  static override summary = 'Set up completion for the shell'
  static override description =
    'The TAB key then completes commands, flags, their values, file names, and the ids of packages, profiles, batches, requests and events that this machine knows. Without a shell it prints what to run once.'
  static override examples = ['refcheck completion', 'refcheck completion bash > ~/.refcheck-completion.bash']
  static override args = {
    shell: Args.string({
      description: 'shell to print the script for',
      options: [...shells],
      ignoreStdin: true,
    }),
  }

  async run(): Promise<void> {
    const shell = shells.find((each) => each === this.args.shell)
    if (shell === undefined) return this.answer(completionSetupView())
    this.answer(completionScriptView(shell))
  }
}
