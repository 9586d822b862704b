import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import { checkWebhookSecret } from '../domain/session/credentials.ts'
import { otherWebhookSecrets } from '../usecases/session/webhook-secret.ts'
import type { OtherSecret } from '../domain/webhook/diagnose.ts'
import { readInput } from './input.ts'
import type { Services } from '../cli/services.ts'

const others = 0o077

export interface WebhookSecrets {
  secret: string
  /** The others that are known here; read once, when they are first asked for. */
  others: () => Promise<readonly OtherSecret[]>
}

/** The secret of `--secret-file`, else that of the environment or the profile; none is a UsageError. */
export async function webhookSecrets(services: Services, file: string | undefined): Promise<WebhookSecrets> {
  const secret = file === undefined ? await services.webhookSecret() : await fromFile(services, file)
  let known: Promise<readonly OtherSecret[]> | undefined
  return {
    secret,
    others: () =>
      (known ??= services.sessionSources().then((sources) => otherWebhookSecrets(sources, secret))),
  }
}

async function fromFile({ context, reporter }: Services, file: string): Promise<string> {
  const bytes = await readInput(context, file, 'the webhook secret')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  if (file !== '-') {
    const status = await stat(resolve(context.cwd, file))
    if (status.isFile() && (status.mode & others) !== 0) {
      reporter.warn(`other accounts of this machine can read ${file}; make it private: chmod 600 ${file}`)
    }
  }
  return checkWebhookSecret(text, `the secret in ${file}`)
}
