import type { Environment } from './env.ts'
import { decoded, Secrets } from './secrets.ts'

/** Variables whose whole value is a secret. */
const secretVariables: readonly [pattern: RegExp, name: string][] = [
  [/^REFCHECK_.*API_KEY/i, 'API key'],
  [/_WEBHOOK_SECRET$/i, 'webhook secret'],
  [/^REFCHECK_.*TOKEN/i, 'control token'],
  [/^PGPASSWORD$/i, 'store password'],
]

interface AddressVariable {
  pattern: RegExp
  name: string
  /** What stands before, the user and the password. Of several @ the last one ends the password, which nobody may have encoded. */
  userinfo: RegExp
  /** What a program that we start is given of these. */
  kept: string
}

/**
 * Variables that hold an address, which may hold a password. Blanks and quotes may stand before it. The address of a proxy may have no
 * scheme, and its user may be a token.
 */
const addressVariables: readonly AddressVariable[] = [
  {
    pattern: /^REFCHECK_STORE$/i,
    name: 'store password',
    userinfo: /^([^a-z]*postgres(?:ql)?:\/\/)([^:/?#@]*):(.*)@/is,
    kept: '$1$2@',
  },
  {
    pattern: /^(?:.*_)?proxy$/i,
    name: 'proxy password',
    userinfo: /^((?:[^a-z\d]*[a-z][a-z\d+.-]*:\/\/)?)([^:]*)(?::(.*))?@/is,
    kept: '$1',
  },
]
/** A token in place of a user; what is shorter, or an e-mail address, may be a name, which occurs elsewhere. */
const tokenAsUser = /^(?!.*(?:@|%40)).{16,}$/s
const passwordParameter = /([?&]password=)([^&#]*)/gi

const secretNamed = (variable: string): string | undefined =>
  secretVariables.find(([pattern]) => pattern.test(variable))?.[1]

const addressNamed = (variable: string): AddressVariable | undefined =>
  addressVariables.find(({ pattern }) => pattern.test(variable))

/** What the environment holds in confidence, besides what is known already. */
export function secretsOf(env: Environment, secrets: Secrets = new Secrets()): Secrets {
  for (const [variable, value = ''] of Object.entries(env)) {
    const name = secretNamed(variable)
    if (name !== undefined) secrets.add(name, value)
    const address = addressNamed(variable)
    if (address !== undefined) addPasswords(secrets, address, value)
  }
  return secrets
}

function addPasswords(secrets: Secrets, { name, userinfo }: AddressVariable, address: string): void {
  const [, , user = '', ofUser] = userinfo.exec(address) ?? []
  const passwords = [ofUser, ...[...address.matchAll(passwordParameter)].map(([, , value]) => value)]
  const token = !ofUser && tokenAsUser.test(user) ? user : undefined
  for (const raw of [...passwords, token]) {
    if (raw === undefined) continue
    const plain = decoded(raw) ?? raw
    secrets.add(name, raw)
    secrets.add(name, plain)
    // As a proxy is sent it (RFC 7617).
    secrets.add(name, Buffer.from(`${decoded(user) ?? user}:${plain}`).toString('base64'))
  }
}

/** Variables by which a program finds its files and the same store and profile; a word in them is no secret. */
const needed = /^(?:PATH|HOME|PWD|USER|LOGNAME|SHELL|TMPDIR|LANG|TERM|XDG_\w+|REFCHECK_(?!STORE)\w+)$/i

/**
 * The environment for a program that we start: without keys, webhook secrets and tokens, and without any variable that
 * holds one of `secrets`, also where that is an ordinary word. The address of the store loses its password, those of proxies lose
 * user and password, and both any other secret; the program uses the same ones.
 */
export function childEnvironment(env: Environment, secrets: Secrets): Record<string, string | undefined> {
  const all = secrets.withOrdinary()
  const kept = Object.entries(env).flatMap(([variable, value = '']): [string, string][] => {
    if (secretNamed(variable) !== undefined || secrets.isIn(variable)) return []
    const address = addressNamed(variable)
    if (address !== undefined) {
      const rest = value.replace(address.userinfo, address.kept).replace(passwordParameter, '$1')
      // Without the variable a program would use another store or no proxy; with a name in the secret's place it fails.
      return [[variable, secrets.isIn(rest) ? secrets.redact(rest) : rest]]
    }
    return (needed.test(variable) ? secrets : all).isIn(value) ? [] : [[variable, value]]
  })
  return Object.fromEntries(kept)
}
