import { BaseCommand } from '../../cli/base-command.ts'
import { uuidFlag } from '../../cli/flags/identifiers.ts'
import { momentFlag } from '../../cli/flags/moment.ts'
import { Flags } from '../../cli/oclif.ts'
import { forgotten } from '../../domain/store/forget.ts'
import { storePurgeView } from '../../output/views/store.ts'
import { store } from '../../compose/store.ts'

export default class StorePurge extends BaseCommand<typeof StorePurge> {
  static override summary = 'Remove a person, or what is old, from the store.'
  static override description = [
    'Names, addresses, bodies and received events go, from the database and its journal. What stays names nobody: ids, statuses, and a keyed fingerprint of each order, so that an old file run again still orders nobody twice. Rows that are not settled are left as they are: pending, sending, unknown.',
    'Nothing is removed by itself; run this from cron to keep to a time limit. It reaches neither the service, nor results files, nor PDFs.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> store purge --email priya@example.com',
    '<%= config.bin %> store purge --older-than 365d --yes',
  ]
  static override flags = {
    email: Flags.string({
      summary: 'All of this recipient.',
      helpValue: 'EMAIL',
      exclusive: ['request-id', 'older-than'],
    }),
    'request-id': uuidFlag({ summary: 'The recipient of this request.', exclusive: ['older-than'] }),
    'older-than': momentFlag({ summary: 'What ended before this date, or this long ago: 365d.' }),
    'dry-run': Flags.boolean({ summary: 'Count, remove nothing.', default: false }),
    yes: Flags.boolean({ summary: 'Remove without a question.' }),
  }

  async run(): Promise<void> {
    const { email, yes } = this.flags
    const dryRun = this.flags['dry-run']
    const who = forgotten({
      email,
      requestId: this.flags['request-id'],
      endedBefore: this.flags['older-than'],
    })
    const { upkeep } = await store(this.scope)
    const found = await upkeep.purge(who, { dryRun: true })
    if (dryRun || found.rows + found.events === 0) return this.answer(storePurgeView(found, dryRun))
    await this.confirm(
      `Remove what names people from ${found.rows} rows and ${found.events} events, for good?`,
      yes,
    )
    this.answer(storePurgeView(await upkeep.purge(who, { dryRun: false }), false))
  }
}
