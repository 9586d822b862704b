import type { App } from './app.ts'
import { UsageError } from '../errors/kinds.ts'
import type { ConformancePorts } from '../usecases/conformance/check-deployment.ts'
import { variable } from '../host/env.ts'
import { controlToken } from './sandbox.ts'
import { webhookSecret } from './webhook.ts'

/** What judging a deployment needs. */
export async function conformancePorts(app: App): Promise<ConformancePorts> {
  const { reporter, context } = app
  return {
    http: (await app.services('http')).http,
    clock: context.clock,
    sources: await app.services('settings', 'secrets', 'env', 'profile'),
    webhookSecret: await webhookSecret(app).catch((error: unknown) => {
      if (error instanceof UsageError) return undefined
      throw error
    }),
    foreignKey: variable(context.env, 'REFCHECK_FOREIGN_API_KEY'),
    controlToken: controlToken(context),
    onCase: (id, done, of) => reporter.status(`${done}/${of} ${id}`),
    onWait: (seconds) => reporter.note(`The quota is used up; continuing in ${seconds} s.`),
  }
}
