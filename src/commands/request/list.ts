import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { momentFlag, timeoutFlag, batchIdFlag } from '../../cli/flags/values.ts'
import { listFlags, parseRequestStatus } from '../../cli/flags/list.ts'
import { createWaitServices, readMeter, updateStatusesInResults } from '../../app/request.ts'
import { listAgeText, listedRequestsView } from '../../output/views/requests.ts'
import { listRequests, refreshRequests, addListedReasons } from '../../usecases/request/read-requests.ts'
import { type ListedRequest, addPackageNames, withFailures } from '../../domain/request/listed-request.ts'
import { mostSevere } from '../../domain/request/result.ts'
import { resolveBatchId } from '../../app/ids.ts'

export default class RequestList extends BaseCommand<typeof RequestList> {
  static override summary = 'List the requests ordered with this store'
  static override description =
    'The API has no list of requests, so this is what the store of this machine has recorded: what was accepted, and what may have been (status unknown); with --profile only what was ordered for that profile’s service and account. Statuses are as last read; --refresh reads those of unfinished requests again.'
  static override examples = [
    'refcheck request list --status unknown',
    'refcheck request list --since 7d --refresh',
    'refcheck request list --profile acme',
    'refcheck request list --csv --columns request_id,email,status',
  ]
  static override flags = {
    status: Flags.string({
      summary: 'Only this status; unknown or dropped for orders with an unknown outcome',
      helpValue: 'STATUS',
    }),
    since: momentFlag({ summary: 'Ordered since this date or this long ago: 2026-11-01 or 7d' }),
    email: Flags.string({ summary: 'Only this recipient’s', helpValue: 'EMAIL' }),
    batch: batchIdFlag({ summary: 'Only this batch’s; the start of its id is enough' }),
    refresh: Flags.boolean({ summary: 'Re-read unfinished requests first' }),
    ...listFlags,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { since, email, batch, refresh } = this.flags
    const status = parseRequestStatus(this.flags.status)
    const { clock } = this.context
    const ledger = await this.app.service('ledger')
    const organisation = this.flags.profile === undefined ? undefined : await this.readOrganisation()
    const filter = { status, since, email, batchId: await resolveBatchId(this.app, batch), organisation }
    if (!refresh) {
      const requests = await listRequests({ ledger, clock }, filter)
      const listedRequests = await this.withDetails(requests)
      this.answerList(listedRequestsView(listedRequests))
      const age = listAgeText(listedRequests)
      const isForPerson = this.context.streams.stdout.isTTY && !this.flags.json && !this.flags.csv
      if (isForPerson && age !== undefined) this.app.note(age)
      return
    }
    const refreshServices = {
      ...(await createWaitServices(this.app)),
      api: await this.app.service('api'),
      ledger,
      budgetMs: this.flags.timeout,
      signal: this.signal,
      onProgress: readMeter(this.app),
    }
    const { requests, failures } = await refreshRequests(refreshServices, filter)
    await updateStatusesInResults(this.app)
    for (const { request_id, error } of failures) {
      this.app.reporter.warn(`${request_id} could not be read: ${error.message}`)
    }
    const listedRequests = withFailures(await this.withDetails(requests), failures)
    this.answerList(listedRequestsView(listedRequests), mostSevere(failures.map(({ error }) => error)))
  }

  private async readOrganisation() {
    const session = await this.app.service('session')
    return { baseUrl: session.baseUrl, account: await this.app.accountInUse() }
  }

  private async withDetails(requests: readonly ListedRequest[]) {
    const { redactedInbox: inbox, packageNames } = await this.app.services('redactedInbox', 'packageNames')
    const users = requests.map(({ base_url: baseUrl, user_email: userEmail }) => ({ baseUrl, userEmail }))
    const namedRequests = addPackageNames(requests, await packageNames.forUsers(users))
    return addListedReasons(namedRequests, inbox, ({ base_url }) => base_url)
  }
}
