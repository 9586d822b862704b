import { Args, BaseCommand, Flags } from '../cli/base-command.ts'
import { timeoutFlag } from '../cli/flags/values.ts'
import { anyAnswerView } from '../output/views/account.ts'

export default class ApiGet extends BaseCommand<typeof ApiGet> {
  static override summary = 'Read any resource of the API as it is'
  static override description =
    'Prints the whole answer with its envelope, also that of a failure. Only reads: an order goes through request create, which records it before it is sent. The key and signed tokens are masked.'
  static override examples = [
    'refcheck api GET /v1/users',
    "refcheck api GET '/v1/packages?status=active' --jq '.data.packages[].name'",
    'refcheck api GET /v1/ping --include',
  ]
  static override args = {
    method: Args.string({
      required: true,
      description: 'GET',
      ignoreStdin: true,
    }),
    path: Args.string({
      required: true,
      description: 'path from /v1/ on, with its query',
      ignoreStdin: true,
    }),
  }
  static override flags = {
    include: Flags.boolean({ summary: 'Print the status and the headers too' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { method, path } = this.args
    this.refuseIf(
      method.toUpperCase() !== 'GET',
      `only GET is possible, not "${method.slice(0, 20)}"`,
      'Order with: refcheck request create',
    )
    const { failure, ...answer } = await (await this.app.service('api')).getAny(path, this.signal)
    this.answer(anyAnswerView(answer, this.flags.include), failure)
  }
}
