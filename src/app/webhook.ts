import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import type { App } from './app.ts'
import { checkWebhookSecret } from '../domain/session/session.ts'
import type { OtherSecret } from '../domain/webhook/diagnose.ts'
import { runProgram } from '../host/run-program.ts'
import { hasFileModes } from '../host/machine.ts'
import { otherWebhookSecrets, type WebhookSecret } from '../usecases/session/webhook-secret.ts'
import type { DeliverTargets, ListenServices } from '../usecases/webhook/listen.ts'
import { readInput } from './input.ts'
import { receiverAt } from './receiver.ts'

const others = 0o077
const execPatienceMs = 60_000

export interface WebhookSecrets {
  secret: string
  /** Base URL of the service that signs with it; undefined where nothing says which that is. */
  service: () => Promise<string | undefined>
  /** The others that are known here; read once, when they are first asked for. */
  others: () => Promise<readonly OtherSecret[]>
}

async function ownSecret(app: App): Promise<WebhookSecret> {
  const { resolveWebhookSecret } = await import('../usecases/session/webhook-secret.ts')
  return resolveWebhookSecret(await app.services('settings', 'secrets', 'env', 'profile'))
}

/** The secret of `--secret-file`, else that of the environment or the profile; none is a UsageError. */
export async function webhookSecrets(app: App, file: string | undefined): Promise<WebhookSecrets> {
  const { secret, from } =
    file === undefined
      ? await ownSecret(app)
      : { secret: await fromFile(app, file), from: 'environment' as const }
  let known: Promise<readonly OtherSecret[]> | undefined
  return {
    secret,
    async service() {
      // Loaded where it is asked for: verifying and signing do without the rules of a session.
      const { signingService } = await import('../usecases/session/resolve.ts')
      return signingService(await app.services('settings', 'secrets', 'env', 'profile'), from)
    },
    others: () =>
      (known ??= app
        .services('settings', 'secrets', 'env', 'profile')
        .then((sources) => otherWebhookSecrets(sources, secret))),
  }
}

async function fromFile({ context, reporter, secrets }: App, file: string): Promise<string> {
  const bytes = await readInput(context, file, 'the webhook secret')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  if (file !== '-') {
    const status = await stat(resolve(context.cwd, file))
    if (hasFileModes() && status.isFile() && (status.mode & others) !== 0) {
      reporter.warn(`other users of this machine can read ${file}. Make it private with: chmod 600 ${file}`)
    }
  }
  const secret = checkWebhookSecret(text, `the secret in ${file}`)
  secrets.add('webhook secret', secret)
  return secret
}

/** What receiving and handing on needs. `exec`: the words of a program to run for each event. */
export async function listenServices(
  app: App,
  {
    forwardTo,
    forwardCa,
    exec,
    secret,
  }: {
    forwardTo: string | undefined
    /** A certificate (PEM) that is trusted for it. */
    forwardCa: string | undefined
    exec: readonly string[] | undefined
    secret: string
  },
): Promise<ListenServices> {
  const [{ serveSmallRequests }, { delivering }] = await Promise.all([
    import('../server/small-requests.ts'),
    import('../usecases/webhook/listen.ts'),
  ])
  const { clock } = app.context
  const { inbox } = await app.services('inbox')
  const to = forwardTo === undefined ? undefined : await receiverAt(app, forwardTo, '--forward-to', forwardCa)
  const env = exec === undefined ? {} : await app.childEnvironment()
  const services: DeliverTargets = {
    to: to && { ...to, clock, secret },
    program: exec && ((event) => runProgram(exec, { env, input: event.body, timeoutMs: execPatienceMs })),
  }
  const isAsked = to !== undefined || exec !== undefined
  return { inbox, clock, serve: serveSmallRequests, deliver: isAsked ? delivering(services) : undefined }
}
