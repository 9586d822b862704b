import type { Environment } from './env.ts'

const secret = new Set(['REFCHECK_API_KEY', 'REFCHECK_WEBHOOK_SECRET', 'PGPASSWORD'])

/** What a program that we start gets of our environment: all but keys and passwords. */
export function childEnvironment(env: Environment): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !secret.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'REFCHECK_STORE' ? passwordless(value) : value]),
  )
}

/** Left unset, the program would use another store. */
function passwordless(address: string | undefined): string | undefined {
  return address?.replace(/^(postgres(?:ql)?:\/\/[^:/?#]*):.*@/i, '$1@')
}
