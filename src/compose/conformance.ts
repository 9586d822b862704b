import type { Scope } from '../cli/scope.ts'
import { UsageError } from '../errors/kinds.ts'
import type { ConformancePorts } from '../usecases/conformance/check-deployment.ts'
import { variable } from '../host/env.ts'
import { http } from './http.ts'
import { controlToken } from './sandbox.ts'
import { sessionSources } from './session.ts'
import { webhookSecret } from './webhook.ts'

/** What judging a deployment needs. */
export async function conformancePorts(scope: Scope): Promise<ConformancePorts> {
  const { reporter, context } = scope
  return {
    http: await http(scope),
    clock: context.clock,
    sources: await sessionSources(scope),
    webhookSecret: await webhookSecret(scope).catch((error: unknown) => {
      if (error instanceof UsageError) return undefined
      throw error
    }),
    foreignKey: variable(context.env, 'REFCHECK_FOREIGN_API_KEY'),
    controlToken: controlToken(context),
    onCase: (id, done, of) => reporter.status(`${done}/${of} ${id}`),
    onWait: (seconds) => reporter.note(`The quota is used up; continuing in ${seconds} s.`),
  }
}
