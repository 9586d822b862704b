import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { durationFlag, batchIdFlag, requestArg } from '../../cli/flags/values.ts'
import { resolveRequestIds } from '../../app/ids.ts'
import { updateStatusesInResults, createMeteredWaitServices } from '../../app/request.ts'
import {
  chooseUnfinishedRequests,
  waitForRequests,
  findRequestIdsOfBatch,
} from '../../usecases/request/wait.ts'
import { requestsView, waitedBatchView } from '../../output/views/requests.ts'
import { withPackageNames } from '../../domain/request/result.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { addReasons } from '../../usecases/request/read-requests.ts'

export default class RequestWait extends BaseCommand<typeof RequestWait> {
  static override summary = 'Wait until requests have finished'
  static override description = [
    'Reads them within the quota until each has a terminal status, or reaches --for: partial (PARTIAL or later), completed, or report (COMPLETED and every report ready). Without an id it offers, on a terminal, what is in flight. --batch waits for everybody of a batch who was accepted. If "webhook listen" runs on the same store, its events say when to read.',
    'Exit 0 if all got there, 10 if one ended CANCELLED or ERROR, 11 if --timeout was reached.',
  ].join('\n\n')
  static override examples = [
    'refcheck request wait 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --for report',
    'refcheck request wait',
    'refcheck request wait --batch 3f2b8c1e --timeout 2h',
    'refcheck request wait REQUEST_ID REQUEST_ID --timeout 2h --json',
  ]
  static override args = {
    request_id: requestArg({
      multiple: true,
      description: 'ids of requests, or the start of each; on a terminal also a name or e-mail',
    }),
  }
  static override flags = {
    batch: batchIdFlag({ summary: 'All requests of this batch; the start of its id is enough' }),
    for: Flags.option({
      options: ['partial', 'completed', 'report'] as const,
      summary: 'What to wait for (default: a terminal status)',
    })(),
    timeout: durationFlag({ summary: 'Longest wait, then exit 11 (default: no limit)' }),
  }

  async run(): Promise<void> {
    const { batch } = this.flags
    const typedIds: readonly string[] = this.args.request_id ?? []
    const prompter = this.flags.json || batch !== undefined ? undefined : this.app.prompter()
    const chosenIds =
      typedIds.length === 0 && prompter !== undefined
        ? await chooseUnfinishedRequests(
            await this.app.services('session', 'ledger', 'clock', 'packageNames'),
            prompter,
          )
        : typedIds
    this.refuseIf(
      (chosenIds.length === 0) === (batch === undefined),
      batch === undefined ? 'no request was named' : 'REQUEST_ID and --batch cannot be combined',
      'Give the ids of requests, or --batch BATCH_ID.',
    )
    const requestIds =
      batch === undefined
        ? await resolveRequestIds(this.app, chosenIds, prompter)
        : await this.findRequestsOfBatch(batch)
    const uniqueIds = [...new Set(requestIds)]
    const { session, packageNames } = await this.app.services('session', 'packageNames')
    const { baseUrl, email: userEmail } = session
    const { whenStored, ...options } = await createMeteredWaitServices(this.app, uniqueIds.length)
    const waiting = waitForRequests(await this.app.service('waitingApi'), uniqueIds, {
      ...options,
      goal: this.flags.for ?? 'terminal',
      timeoutMs: this.flags.timeout ?? Number.POSITIVE_INFINITY,
      signal: this.signal,
    })
    const { results, failure } = await waiting.catch(async (error: unknown) => {
      await whenStored()
      throw error
    })
    await whenStored()
    await updateStatusesInResults(this.app)
    const resultsWithReasons = await addReasons(results, baseUrl, () => this.app.service('inbox'))
    const namedResults = withPackageNames(resultsWithReasons, await packageNames.get({ baseUrl, userEmail }))
    const view =
      batch === undefined ? requestsView(namedResults, chosenIds.length > 1) : waitedBatchView(namedResults)
    this.answer(view, failure)
  }

  private async findRequestsOfBatch(typedBatchId: string): Promise<string[]> {
    const { baseUrl } = await this.app.service('session')
    const services = await this.app.batchServices()
    const found = await findRequestIdsOfBatch(services, typedBatchId, baseUrl)
    const { batchId, requestIds, withoutRequestCount } = found
    if (withoutRequestCount > 0) {
      const rowsText = formatCount(
        withoutRequestCount,
        'row of the batch has no request',
        'rows of the batch have no request',
      )
      this.app.note(`${rowsText} to wait for. See: refcheck batch status ${batchId}`)
    }
    return requestIds
  }
}
