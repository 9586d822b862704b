import { once } from 'node:events'
import { resolve } from 'node:path'

import { Flags } from '../../cli/oclif.ts'
import { BaseCommand } from '../../cli/base-command.ts'
import { tlsFlags, tlsPair } from '../../cli/flags/tls.ts'
import { parseWindows } from '../../domain/quota/windows.ts'
import { login as logIn } from '../../usecases/session/login.ts'
import { keepWebhookSecret } from '../../usecases/session/webhook-secret.ts'
import { sandboxPorts } from '../../compose/sandbox.ts'
import { sandboxView } from '../../output/views/sandbox.ts'
import { connector } from '../../compose/api.ts'
import { sessionSources } from '../../compose/session.ts'

const sandboxProfile = 'sandbox'

export default class SandboxStart extends BaseCommand<typeof SandboxStart> {
  static override summary = 'Run the whole service on this machine, to practise and to test against.'
  static override description =
    'Every endpoint of the API with its rules, errors and limits, on loopback, with packages and users to try. Requests progress by themselves and are COMPLETED within an hour; --speed 600 shows that in six seconds. With --json one line tells how to reach it once it is ready. SIGINT or SIGTERM ends it. On an address that others reach (--host) it speaks https alone.'
  static override examples = [
    '<%= config.bin %> sandbox start --login',
    '<%= config.bin %> sandbox start --port 0 --speed 600 --json',
  ]
  static override flags = {
    host: Flags.string({ summary: 'Address to listen on (default 127.0.0.1).', helpValue: 'HOST' }),
    port: Flags.integer({
      summary: 'Port; 0 takes a free one.',
      min: 0,
      max: 65_535,
      default: 4280,
      noCacheDefault: true,
    }),
    speed: Flags.integer({
      summary: 'How much faster requests progress.',
      min: 1,
      max: 1_000_000,
      default: 1,
    }),
    quota: Flags.string({ summary: 'The windows (default 60/60,1000/3600).', helpValue: 'CALLS/SECONDS,…' }),
    seed: Flags.string({
      summary: 'Another key, other ids, other luck; the same for the same seed.',
      helpValue: 'TEXT',
    }),
    'webhook-url': Flags.string({ summary: 'The organisation’s webhook.', helpValue: 'URL' }),
    data: Flags.string({
      summary: 'Keep the state in this file, which survives a crash.',
      helpValue: 'FILE|:memory:',
    }),
    fixture: Flags.string({
      summary: 'Organisations, users and packages from JSON or YAML.',
      helpValue: 'FILE',
    }),
    clock: Flags.option({
      summary: 'manual: it stands still until "sandbox advance".',
      options: ['real', 'manual'] as const,
    })(),
    rule: Flags.string({
      summary: 'A choice of "sandbox rules"; may be repeated.',
      helpValue: 'NAME=CHOICE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...tlsFlags,
    login: Flags.boolean({ summary: `Save the profile "${sandboxProfile}" for it and switch to it.` }),
  }

  async run(): Promise<void> {
    const { port, speed, quota, seed, login, data, fixture } = this.flags
    const { signal } = this
    const { startSandbox } = await import('../../usecases/sandbox/start.ts')
    const server = await startSandbox(await sandboxPorts(this.context), {
      host: this.flags.host,
      port,
      tls: await tlsPair(this.context, this.flags),
      speed,
      quota: quota === undefined ? undefined : parseWindows(quota, '--quota'),
      webhookUrl: this.flags['webhook-url'],
      seed,
      data: data === undefined || data === ':memory:' ? undefined : resolve(this.context.cwd, data),
      fixture: fixture === undefined ? undefined : resolve(this.context.cwd, fixture),
      manualClock: this.flags.clock === 'manual',
      rules: this.flags.rule,
    })
    try {
      const { apiKey, userEmail, webhookSecret } = server.sandbox.credentials
      if (login) {
        const sources = { ...(await sessionSources(this.scope)), profile: sandboxProfile }
        const connect = await connector(this.scope)
        const credentials = { baseUrl: server.url, apiKey, email: userEmail, insecure: true }
        await logIn({ ...sources, ...credentials, connect, signal })
        await keepWebhookSecret({ ...sources, secret: webhookSecret })
      }
      const address = {
        base_url: server.url,
        api_key: apiKey,
        user_email: userEmail,
        webhook_secret: webhookSecret,
      }
      this.answerLine(sandboxView(address, login ? sandboxProfile : undefined))
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await server.close()
    }
  }
}
