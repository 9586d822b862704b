import { once } from 'node:events'

import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { readAuthority, tlsFlags, readTlsFiles } from '../../cli/flags/server.ts'
import { type RunningReceiver, startListening } from '../../usecases/webhook/listen.ts'
import { createListenServices, webhookSecrets } from '../../app/webhook.ts'
import { splitCommandLine } from '../../domain/wording/pasted-command.ts'
import { RefusedDeliveryLog } from '../../domain/webhook/refused-delivery-log.ts'
import { forwardedText, createInterruptedError, storedEventView } from '../../output/views/webhook.ts'
import { stoppedNote, createClosedOutputError } from '../../output/views/webhook.ts'

export default class WebhookListen extends BaseCommand<typeof WebhookListen> {
  static override summary = 'Receive webhook events, and forward them'
  static override description = [
    'Each delivery is verified over its exact bytes, recorded on disk, acknowledged, and only then forwarded: to --forward-to with the original bytes and signature, to --exec on its standard input. A failed forward is retried within a second, then with growing pauses, in order within a request, also after a restart. A duplicate delivery is acknowledged and forwarded once.',
    'It listens on 127.0.0.1 unless --host says otherwise. The service delivers to https only, so use a proxy or --tls-cert and --tls-key. SIGTERM stops it with exit 0, Ctrl-C with exit 130; events that still wait are forwarded by the next run. An event that no receiver acknowledges holds up the later ones of its request: --max-attempts gives it up, and so does "webhook events drop"; it is kept, and "webhook events replay" forwards it again.',
  ].join('\n\n')
  static override examples = [
    'refcheck webhook listen --forward-to http://localhost:3000/hooks',
    "refcheck webhook listen --exec './on-event.sh --quiet' --json",
    'refcheck webhook listen --port 0 --max-events 1',
  ]
  static override flags = {
    host: Flags.string({ summary: 'Address to listen on', default: '127.0.0.1', helpValue: 'HOST' }),
    port: Flags.integer({
      helpValue: 'PORT',
      summary: 'Port to listen on; 0 for any free port',
      min: 0,
      max: 65_535,
      default: 4281,
      noCacheDefault: true,
    }),
    path: Flags.string({ summary: 'Path that receives deliveries', default: '/', helpValue: 'PATH' }),
    ...tlsFlags,
    'forward-to': Flags.string({ summary: 'Forward each event to this URL', helpValue: 'URL' }),
    'forward-ca': Flags.string({
      summary: 'Authority, or self-signed certificate, to trust for --forward-to (PEM)',
      helpValue: 'FILE',
      dependsOn: ['forward-to'],
    }),
    exec: Flags.string({ summary: 'Run this command for each event, without a shell', helpValue: 'COMMAND' }),
    'max-attempts': Flags.integer({
      summary: 'Drop an event after this many failed forwards, so that later ones of its request go on',
      helpValue: 'N',
      min: 1,
    }),
    'max-events': Flags.integer({ summary: 'Stop after this many new events', helpValue: 'N', min: 1 }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, app, signal } = this
    this.refuseIf(
      !flags.path.startsWith('/'),
      `--path: "${flags.path}" does not start with /`,
      'Give a path such as /hooks.',
    )
    this.pinProgramFiles()
    const isForwarding = flags['forward-to'] !== undefined || flags.exec !== undefined
    this.refuseIf(
      flags['max-attempts'] !== undefined && !isForwarding,
      '--max-attempts requires --forward-to or --exec',
      'Nothing is forwarded without one of them.',
    )
    const { secret, findBaseUrl } = await webhookSecrets(app, flags['secret-file'])
    const maxEventsReached = new AbortController()
    const storedEvents = { count: 0 }
    const services = await createListenServices(app, {
      secret,
      forwardTo: flags['forward-to'],
      forwardCa: await readAuthority(this.context, flags['forward-ca'], '--forward-ca'),
      exec: flags.exec === undefined ? undefined : splitCommandLine(flags.exec, '--exec'),
    })
    const refusedDeliveries = new RefusedDeliveryLog((line) => app.reporter.note(line))
    const listening = await startListening(services, {
      secret,
      baseUrl: await findBaseUrl(),
      host: flags.host,
      port: flags.port,
      path: flags.path,
      tls: await readTlsFiles(this.context, flags),
      onStored: (event) => {
        this.answerLine(storedEventView(event))
        if (!event.repeated) storedEvents.count += 1
        if (storedEvents.count >= (flags['max-events'] ?? Number.POSITIVE_INFINITY)) maxEventsReached.abort()
      },
      onRefused: (reason) => refusedDeliveries.add(reason, this.context.clock.monotonic()),
      onDelayed: (what, { message }) => app.reporter.warn(`${what}: ${message}`),
      maxAttempts: flags['max-attempts'],
      onDelivered: (...delivered) => app.reporter.note(forwardedText(...delivered)),
    })
    app.reporter.note(`Listening at ${listening.url} (Ctrl-C stops it).`)
    // `closedSignal`: stdout was closed. All received events are stored, and no more of them can be printed.
    const { closedSignal = new AbortController().signal } = this.context.streams.stdout
    const endSignal = AbortSignal.any([
      signal,
      maxEventsReached.signal,
      listening.storeFailedSignal,
      closedSignal,
    ])
    const failure = await this.waitForEnd(listening, endSignal)
    refusedDeliveries.flush()
    if (failure !== undefined) this.endWithFailure(failure)
    if (closedSignal.aborted) this.endWithFailure(createClosedOutputError(storedEvents.count))
    if (this.context.interrupts.isTerminated) app.reporter.note(stoppedNote(storedEvents.count, isForwarding))
    else if (signal.aborted) this.endWithFailure(createInterruptedError(storedEvents.count, isForwarding))
  }

  /** Waits until listening has to end and, except after Ctrl-C, until the received events are forwarded. */
  private async waitForEnd(listening: RunningReceiver, endSignal: AbortSignal) {
    if (!endSignal.aborted) await once(endSignal, 'abort')
    return listening.finish(this.signal)
  }
}
