import { BaseCommand } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/duration.ts'
import { batchIdFlag, requestIdArg } from '../../cli/flags/identifiers.ts'
import { requestIdsOf } from '../../compose/known-ids.ts'
import { watching } from '../../compose/request.ts'
import { Flags } from '../../cli/oclif.ts'
import { waitForRequests } from '../../usecases/request/wait.ts'
import { requestsOfBatch } from '../../usecases/request/of-batch.ts'
import { requestsView, waitedBatchView } from '../../output/views/request.ts'
import { withPackageNames } from '../../domain/request/result.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { withReasons } from '../../usecases/request/error-reasons.ts'
import { patientApi } from '../../compose/api.ts'
import { packageNames } from '../../compose/package-names.ts'
import { session } from '../../compose/session.ts'
import { store, storedBatches } from '../../compose/store.ts'

export default class RequestWait extends BaseCommand<typeof RequestWait> {
  static override summary = 'Wait until requests have finished'
  static override description = [
    'Reads them within the quota until each has a terminal status, or reaches --for: partial (PARTIAL or later), completed, or report (COMPLETED and every report ready). --batch waits for everybody of a batch who was accepted. If "webhook listen" runs on the same store, its events say when to read.',
    'Exit 0 if all got there, 10 if one ended CANCELLED or ERROR, 11 if --timeout was reached.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> request wait 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --for report',
    '<%= config.bin %> request wait --batch 3f2b8c1e --timeout 2h',
    '<%= config.bin %> request wait REQUEST_ID REQUEST_ID --timeout 2h --json',
  ]
  static override args = {
    request_id: requestIdArg({ multiple: true, description: 'ids of requests, or the start of each' }),
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
    const given: readonly string[] = this.args.request_id ?? []
    this.refuse(
      (given.length === 0) === (batch === undefined),
      batch === undefined ? 'no request was named' : 'REQUEST_ID and --batch cannot be combined',
      'Give the ids of requests, or --batch BATCH_ID.',
    )
    const named = batch === undefined ? await requestIdsOf(this.scope, given) : await this.ofBatch(batch)
    const ids = [...new Set(named)]
    const { baseUrl } = await session(this.scope)
    const { kept, ...options } = await watching(this.scope, ids.length)
    const reads = waitForRequests(await patientApi(this.scope), ids, {
      ...options,
      goal: this.flags.for ?? 'terminal',
      timeoutMs: this.flags.timeout ?? Number.POSITIVE_INFINITY,
      signal: this.signal,
    })
    const { results, failure } = await reads.catch(async (error: unknown) => {
      await kept()
      throw error
    })
    await kept()
    const told = await withReasons(results, baseUrl, async () => (await store(this.scope)).inbox)
    const all = withPackageNames(told, await packageNames(this.scope))
    const view = batch === undefined ? requestsView(all, given.length > 1) : waitedBatchView(all)
    this.answer(view, failure)
  }

  private async ofBatch(named: string): Promise<string[]> {
    const { baseUrl } = await session(this.scope)
    const stored = await storedBatches(this.scope)
    const { batchId, requestIds, others } = await requestsOfBatch(stored, named, baseUrl)
    if (others > 0) {
      const rows = countInWords(
        others,
        'row of the batch has no request',
        'rows of the batch have no request',
      )
      this.scope.note(`${rows} to wait for. See: refcheck batch status ${batchId}`)
    }
    return requestIds
  }
}
