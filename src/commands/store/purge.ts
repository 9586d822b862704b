import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { requestIdFlag, momentFlag } from '../../cli/flags/values.ts'
import { erasureTarget, notDeletedError, uncleanStoreFilesError } from '../../domain/store/erasure.ts'
import { storePurgeView } from '../../output/views/store.ts'
import { purgeAll, purgeServices, findRetentionLimit } from '../../usecases/store/purge.ts'
import { completeRequestId } from '../../app/ids.ts'
import { purgeQuestions } from '../../app/store.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import type { ErasureTarget } from '../../domain/store/types.ts'

export default class StorePurge extends BaseCommand<typeof StorePurge> {
  static override summary = 'Remove a person, or old data, from the store'
  static override description = [
    'Removes names, addresses, order bodies, received events, and file names that contain the person’s name, from the database and its journal, kept answers of orders that were not finished, and plans of agents that wait. Rows that were not sent yet are cancelled. What remains names nobody: ids, statuses, and keyed fingerprints, so that an old file run again orders no person twice. Somebody who has the store and knows a person’s details can confirm with the fingerprints that the person was in it; --completely removes these too, and an old file then orders the person again. Rows in flight or unknown are kept, and so are rows that are held because a backup was restored, until you decide about them.',
    'Without --email, --request-id and --older-than it removes what is older than the setting retention (refcheck config set retention 24mo), as a worker does once a day; nothing else removes by itself.',
    'Files of this machine that still show a person named with --email or --request-id are listed: input files, results files, exports, plan files, reports and their lines in the manifest, and backups. With --delete-files (on a terminal it asks) those that refcheck wrote are deleted, whoever else is in them, except backups; other lines of a manifest stay. It does not reach: the service, files that were moved or copied, other machines, input files, backups of the store, captured events, and what was forwarded to a receiver.',
  ].join('\n\n')
  static override examples = [
    'refcheck store purge --email priya@example.com',
    'refcheck store purge --email priya@example.com --delete-files',
    'refcheck store purge --older-than 365d --yes',
    'refcheck store purge --yes',
  ]
  static override flags = {
    email: Flags.string({
      summary: 'All data of this recipient',
      helpValue: 'EMAIL',
      exclusive: ['request-id', 'older-than'],
    }),
    'request-id': requestIdFlag({ summary: 'The recipient of this request', exclusive: ['older-than'] }),
    'older-than': momentFlag({ summary: 'What ended before this date, or this long ago: 365d' }),
    completely: Flags.boolean({
      summary: 'Remove the fingerprints too; the person may be ordered again',
      default: false,
    }),
    'delete-files': Flags.boolean({
      summary: 'Also delete files refcheck wrote that show the person',
      default: false,
    }),
    'dry-run': Flags.boolean({ summary: 'Only count, remove nothing', default: false }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
  }

  async run(): Promise<void> {
    const { email, yes, completely } = this.flags
    const dryRun = this.flags['dry-run']
    const { 'request-id': typedId } = this.flags
    const requestId = typedId === undefined ? undefined : await completeRequestId(this.app, typedId)
    const target = erasureTarget({
      email,
      requestId,
      baseUrl: requestId === undefined ? undefined : await this.#findServiceOf(requestId),
      endedBefore:
        this.flags['older-than'] ??
        findRetentionLimit(await this.app.setting('retention'), this.context.clock.now())?.endedBefore,
    })
    const services = await this.app.services(...purgeServices)
    if (email !== undefined && !email.includes('@')) {
      // An invalid row may contain a text that is no e-mail address, so the text is searched for before it is refused.
      const found = await services.maintenance.purge(target, { dryRun: true, completely })
      this.refuseIf(
        found.rows + found.events === 0,
        `--email: "${redactArgument(email)}" is not an e-mail address`,
        `Find the address of a person who was ordered with: refcheck request get ${shellWord(redactArgument(email))}`,
      )
    }
    const result = await purgeAll(services, target, {
      dryRun,
      completely,
      ...purgeQuestions(this.app, this.flags, (question) => this.confirm(question, yes)),
    })
    const refusedCount = result.files.filter(({ isRefused }) => isRefused === true).length
    const failure =
      dryRun || result.areStoreFilesClean
        ? refusedCount === 0
          ? undefined
          : notDeletedError(refusedCount)
        : uncleanStoreFilesError((await this.app.service('store')).location, result)
    this.answer(storePurgeView(result, dryRun, 'endedBefore' in target), failure)
    if (
      refusedCount === 0 &&
      result.files.some(({ isDeleted, isNeverDeleted }) => !isDeleted && !isNeverDeleted) &&
      !dryRun
    )
      this.app.note(
        result.canFindFilesAgain
          ? deleteHint(target)
          : 'Delete them yourself: another purge may not find them.',
      )
  }

  /** Returns the base URL of the service that created this request; if several have this id, that of the profile. */
  async #findServiceOf(requestId: string): Promise<string | undefined> {
    const ledger = await this.app.service('ledger')
    const [service, ...others] = new Set((await ledger.list({ requestId })).map(({ baseUrl }) => baseUrl))
    return others.length === 0 ? service : (await this.app.service('session')).baseUrl
  }
}

function deleteHint(target: ErasureTarget): string {
  const selection =
    'email' in target
      ? ['--email', target.email]
      : 'requestId' in target
        ? ['--request-id', target.requestId]
        : []
  return `To delete those that refcheck wrote, run: refcheck store purge ${selection.map(shellWord).join(' ')} --delete-files`
}
