import { BaseCommand, Flags } from '../cli/base-command.ts'
import { durationFlag } from '../cli/flags/values.ts'
import { workerProfiles, workerQuota, serveHealth } from '../app/worker.ts'
import { logEntry, type WorkerEvent } from '../domain/worker/events.ts'
import { logView } from '../output/views/batches.ts'
import { runWorker } from '../usecases/worker/work.ts'
import { purgeAllExpired } from '../app/store.ts'

const defaultRefreshMs = 900_000

export default class Worker extends BaseCommand<typeof Worker> {
  static override summary = 'Send queued batches, and keep requests and reports up to date'
  static override description = [
    'Runs until it is stopped. It orders the rows of batches queued with "refcheck batch queue", within the quota of each key, reads unfinished requests again, and once a day removes personal data that is older than the setting retention. Any number of workers on any number of machines can share one PostgreSQL store.',
    'Its log, on stdout, is one JSON document per line (on a terminal a line of words, unless --json), without names, e-mails or what was sent; a warning has its reason. SIGTERM or Ctrl-C ends it with exit 0, after the row in flight is finished (at most 60 s). With --health-port it answers /healthz, /readyz and /metrics (Prometheus).',
  ].join('\n\n')
  static override examples = [
    'refcheck worker --output /var/lib/refcheck/reports --health-port 9400',
    'refcheck worker --profiles all',
    'refcheck worker --once',
  ]
  static override flags = {
    profiles: Flags.string({
      summary: 'Profiles to work for, such as acme,beta, or all (default: the one in use)',
      helpValue: 'NAMES',
      exclusive: ['profile'],
    }),
    output: Flags.string({ summary: 'Folder for the reports (default: download none)', helpValue: 'DIR' }),
    refresh: durationFlag({ summary: 'How often to re-read unfinished requests (default 15m)' }),
    once: Flags.boolean({ summary: 'End once nothing is left to do' }),
    'health-port': Flags.integer({
      summary: 'Answer health checks on this port',
      helpValue: 'PORT',
      min: 0,
      max: 65_535,
    }),
    'health-host': Flags.string({
      summary: 'Address for health checks (default 127.0.0.1)',
      helpValue: 'HOST',
      dependsOn: ['health-port'],
    }),
  }

  async run(): Promise<void> {
    const { flags, app, signal } = this
    const { clock } = this.context
    this.pinProgramFiles()
    const listeners: ((event: WorkerEvent) => void)[] = [
      (event) => this.answerLine(logView(logEntry(event, clock.now()))),
    ]
    const onEvent = (event: WorkerEvent): void => {
      for (const listener of listeners) listener(event)
    }
    const { profiles, output } = flags
    const members = await workerProfiles(app, { profiles, output, signal, onEvent })
    if (flags['health-port'] !== undefined) {
      const health = await serveHealth(app, {
        host: flags['health-host'] ?? '127.0.0.1',
        port: flags['health-port'],
        readQuota: () => workerQuota(members),
        profiles: members,
      })
      listeners.push((event) => health.record(event))
      onEvent({ name: 'health', url: health.url })
    }
    const { batches, inbox } = await app.services('batches', 'inbox')
    const refreshMs = flags.refresh ?? defaultRefreshMs
    const services = {
      batches,
      inbox,
      profiles: members,
      purgeExpired: () => purgeAllExpired(app, false),
      clock,
      signal,
    }
    await runWorker({ ...services, refreshMs, once: flags.once, onEvent })
  }
}
