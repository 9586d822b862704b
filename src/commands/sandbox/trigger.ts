import { sandboxStories } from '../../app/sandbox.ts'
import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { storiesView, storyView } from '../../output/views/sandbox.ts'
import { hasExpectedStatus, triggerStory } from '../../usecases/sandbox/control.ts'

export default class SandboxTrigger extends SandboxCommand<typeof SandboxTrigger> {
  static override summary = 'Play a story: one order, and its signed events delivered to a receiver'
  static override description =
    'Creates an order on a running sandbox, drives it through its statuses without waiting for the clock, posts each event to the receiver once, and shows what was answered. Without a STORY it lists the stories. It uses no quota and no credit. A service that is not a sandbox is refused before anything is posted (exit 2). Exit 10 if the receiver answers an event with anything but a 2xx, or a forged one with a 2xx.'
  static override examples = [
    'refcheck sandbox trigger',
    'refcheck sandbox trigger completed --to http://127.0.0.1:3000/hooks',
    'refcheck sandbox trigger forged --json',
  ]
  static override args = { story: Args.string({ description: 'name of a story', ignoreStdin: true }) }
  static override flags = {
    to: Flags.string({
      summary: 'URL of the receiver (default: the sandbox’s webhook URL)',
      helpValue: 'URL',
    }),
    ...sandboxFlags,
  }

  async run(): Promise<void> {
    const { story } = this.args
    const { to, 'base-url': baseUrl } = this.flags
    const stories = await sandboxStories()
    if (story === undefined) {
      this.refuseIf(
        to !== undefined,
        'STORY: required with --to',
        `Stories: ${stories.map(({ name }) => name).join(', ')}`,
      )
      return this.answerList(storiesView(stories))
    }
    this.refuseIf(
      !stories.some(({ name }) => name === story),
      `no story named "${story.slice(0, 60)}"`,
      `Stories: ${stories.map(({ name }) => name).join(', ')}`,
    )
    const { result, failure } = await triggerStory(await this.connect(baseUrl), story, to)
    this.answer(storyView(result, hasExpectedStatus), failure)
  }
}
