import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag, requestArg } from '../../cli/flags/values.ts'
import { readRequests, addReasons, findOrderedAgain } from '../../usecases/request/read-requests.ts'
import { requestsView } from '../../output/views/requests.ts'
import { isEndedWithoutResult } from '../../domain/overview/attention.ts'
import { isUnread, withPackageNames } from '../../domain/request/result.ts'
import { resolveRequestIds } from '../../app/ids.ts'
import { recordReads } from '../../app/request.ts'

export default class RequestGet extends BaseCommand<typeof RequestGet> {
  static override summary = 'Show the status, checks and referees of a request'
  static override description =
    'Each call returns new report URLs, valid for one hour. With several ids, --json prints an array; one that could not be read has its error in its place. On a terminal, a request that ended CANCELLED or ERROR counts as looked at: status no longer lists it.'
  static override examples = [
    'refcheck request get 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
    'refcheck request get priya',
    'refcheck request get REQUEST_ID REQUEST_ID --json',
  ]
  static override args = {
    request_id: requestArg({
      required: true,
      multiple: true,
      description: 'ids of requests, or the start of each; on a terminal also a name or e-mail',
    }),
  }
  static override flags = { timeout: timeoutFlag }

  async run(): Promise<void> {
    const prompter = this.flags.json ? undefined : this.app.prompter()
    const ids = await resolveRequestIds(this.app, this.args.request_id, prompter)
    const service = await this.app.service('api')
    const packageNames = await this.app.service('packageNames')
    const namesPromise = packageNames.get(service)
    const { results, failure } = await readRequests(service, ids, this.signal)
    recordReads(
      this.app,
      service.baseUrl,
      results.flatMap((each) => (isUnread(each) ? [] : [each.request])),
      this.context.streams.stdout.isTTY && !this.flags.json,
    )
    const resultsWithReasons = await addReasons(results, service.baseUrl, () => this.app.service('inbox'))
    const namedResults = withPackageNames(resultsWithReasons, await namesPromise)
    const hasEnded = namedResults.some((each) => !isUnread(each) && isEndedWithoutResult(each.request.status))
    const orderedAgain =
      hasEnded && this.terminal.columns !== undefined
        ? await findOrderedAgain(await this.app.service('ledger'), service.baseUrl, namedResults)
        : undefined
    this.answer(requestsView(namedResults, ids.length > 1, orderedAgain), failure)
  }
}
