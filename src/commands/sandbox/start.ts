import { once } from 'node:events'
import { resolve } from 'node:path'

import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { reachFlags, tlsFlags, readTlsFiles } from '../../cli/flags/server.ts'
import { parseWindows } from '../../domain/quota/windows.ts'
import { login as logIn } from '../../usecases/session/login.ts'
import { saveWebhookSecret } from '../../usecases/session/webhook-secret.ts'
import {
  controlToken,
  requireSandboxProfile,
  sandboxProfile,
  createSandboxServices,
} from '../../app/sandbox.ts'
import { sandboxView } from '../../output/views/sandbox.ts'

export default class SandboxStart extends BaseCommand<typeof SandboxStart> {
  static override summary = 'Start a sandbox, and run it until Ctrl-C'
  static override description =
    'Serves every endpoint of the API with its rules, errors and limits on 127.0.0.1, with example packages and users. Requests progress by themselves and are COMPLETED within an hour, or in six seconds with --speed 600. With --json it prints one line, when it is ready. Ctrl-C stops it. On an address that other machines can reach (--host) it serves https only; --allow-http-from names networks, such as those of containers, that may call it by http. Where others can reach it, whoever controls it needs the control token that it prints, or that REFCHECK_SANDBOX_TOKEN sets.'
  static override examples = [
    'refcheck sandbox start --login',
    'refcheck sandbox start --port 0 --speed 600 --json',
    'refcheck sandbox start --allow-http-from 172.16.0.0/12',
  ]
  static override flags = {
    ...reachFlags,
    port: Flags.integer({
      helpValue: 'PORT',
      summary: 'Port to listen on; 0 for any free port',
      min: 0,
      max: 65_535,
      default: 4280,
      noCacheDefault: true,
    }),
    speed: Flags.integer({
      helpValue: 'N',
      summary: 'Make requests progress this many times faster',
      min: 1,
      max: 1_000_000,
      default: 1,
    }),
    quota: Flags.string({
      summary: 'Quota windows, calls/seconds (default 60/60,1000/3600)',
      helpValue: 'CALLS/SECONDS,…',
    }),
    seed: Flags.string({ summary: 'Seed of all keys and ids (default: random)', helpValue: 'TEXT' }),
    'webhook-url': Flags.string({ summary: 'Webhook URL of the organisation', helpValue: 'URL' }),
    data: Flags.string({
      summary: 'Keep the state in this file over restarts',
      helpValue: 'FILE|:memory:',
    }),
    fixture: Flags.string({
      summary: 'Organisations, users and packages as JSON or YAML',
      helpValue: 'FILE',
    }),
    clock: Flags.option({
      summary: 'real, or manual: it stands still until "sandbox advance"',
      options: ['real', 'manual'] as const,
    })(),
    rule: Flags.string({
      summary: 'Switch a rule (see: sandbox rules); repeatable',
      helpValue: 'NAME=CHOICE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...tlsFlags,
    login: Flags.boolean({ summary: `Save it as profile "${sandboxProfile}" (or --profile) and use it` }),
  }

  async run(): Promise<void> {
    const { port, speed, quota, seed, login, data, fixture } = this.flags
    const { signal } = this
    const profile = this.flags.profile ?? sandboxProfile
    if (login)
      await requireSandboxProfile(this.app, { profileName: this.flags.profile, port, json: this.flags.json })
    this.pinProgramFiles()
    const { startSandbox } = await import('../../usecases/sandbox/start.ts')
    const server = await startSandbox(await createSandboxServices(this.context), {
      host: this.flags.host,
      port,
      allowHttpFrom: this.flags['allow-http-from'],
      publicUrl: this.flags['public-url'],
      controlToken: controlToken(this.context),
      tls: await readTlsFiles(this.context, this.flags),
      speed,
      quota: quota === undefined ? undefined : parseWindows(quota, '--quota'),
      webhookUrl: this.flags['webhook-url'],
      seed,
      data: data === undefined || data === ':memory:' ? undefined : resolve(this.context.cwd, data),
      fixture: fixture === undefined ? undefined : resolve(this.context.cwd, fixture),
      manualClock: this.flags.clock === 'manual',
      rules: this.flags.rule,
    })
    if (server.warning !== undefined) this.app.reporter.warn(server.warning)
    try {
      const { apiKey, userEmail, webhookSecret } = server.sandbox.credentials
      if (login) {
        const services = await this.app.services('settings', 'secrets', 'env', 'connect')
        const sources = { ...services, profile }
        const credentials = { baseUrl: server.url, apiKey, email: userEmail, insecure: true }
        await logIn({ ...sources, ...credentials, signal })
        await saveWebhookSecret({ ...sources, secret: webhookSecret })
      }
      // The sandbox's own credentials are not redacted, because they are the output, even if the environment has the
      // same ones.
      for (const value of Object.values(server.address)) this.app.secrets.reveal(value)
      this.answerLine(sandboxView(server.address, login ? profile : undefined))
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await server.close()
    }
  }
}
