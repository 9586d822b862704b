import { BaseCommand } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/duration.ts'
import { uuidArg } from '../../cli/flags/identifiers.ts'
import { following } from '../../compose/request.ts'
import { Flags } from '../../cli/oclif.ts'
import { waitForRequests } from '../../usecases/request/wait.ts'
import { requestsView } from '../../output/views/request.ts'
import { withPackageNames } from '../../domain/request/result.ts'
import { withReasons } from '../../usecases/request/error-reasons.ts'
import { patientApi } from '../../compose/api.ts'
import { packageNames } from '../../compose/package-names.ts'
import { store } from '../../compose/store.ts'

export default class RequestWait extends BaseCommand<typeof RequestWait> {
  static override summary = 'Wait until requests have finished'
  static override description = [
    'Reads them within the quota until each has a terminal status, or reaches --for: partial (PARTIAL or later), completed, or report (COMPLETED and every report ready). If "webhook listen" runs on the same store, its events say when to read.',
    'Exit 0 if all got there, 10 if one ended CANCELLED or ERROR, 11 if --timeout was reached.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> request wait 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --for report',
    '<%= config.bin %> request wait REQUEST_ID REQUEST_ID --timeout 2h --json',
  ]
  static override args = {
    request_id: uuidArg({ required: true, multiple: true, description: 'ids of requests' }),
  }
  static override flags = {
    for: Flags.option({
      options: ['partial', 'completed', 'report'] as const,
      summary: 'What to wait for (default: a terminal status)',
    })(),
    timeout: durationFlag({ summary: 'Longest wait, then exit 11 (default: no limit)' }),
  }

  async run(): Promise<void> {
    const ids = [...new Set(this.args.request_id)]
    const { results, failure } = await waitForRequests(await patientApi(this.scope), ids, {
      ...(await following(this.scope)),
      goal: this.flags.for ?? 'terminal',
      timeoutMs: this.flags.timeout ?? Number.POSITIVE_INFINITY,
      signal: this.signal,
    })
    const told = await withReasons(results, async () => (await store(this.scope)).inbox)
    const named = withPackageNames(told, await packageNames(this.scope))
    this.answer(requestsView(named, this.args.request_id.length > 1), failure)
  }
}
