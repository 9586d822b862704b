import { join } from 'node:path'

/** The credentials with which a client calls a sandbox. */
interface Credentials {
  apiKey: string
  userEmail: string
  webhookSecret: string
}

/** Returns an environment with only the folders, without a profile, key or service. */
export function emptyEnv(folder: string): Record<string, string> {
  return { REFCHECK_CONFIG_DIR: join(folder, 'config'), REFCHECK_DATA_DIR: join(folder, 'data') }
}

/** Options with which a session types as a colleague, who has another store and other settings, in the same folder. */
export const colleague = ({ folder }: { folder: string }, name = 'other') => ({
  exported: emptyEnv(join(folder, name)),
})

/** Returns the environment with the address and credentials of a sandbox, which makes a login unnecessary. */
export function serviceEnv(
  url: string,
  { apiKey, userEmail, webhookSecret }: Credentials,
): Record<string, string> {
  return {
    REFCHECK_BASE_URL: url,
    REFCHECK_API_KEY: apiKey,
    REFCHECK_USER_EMAIL: userEmail,
    REFCHECK_WEBHOOK_SECRET: webhookSecret,
  }
}

/** Returns the same as `serviceEnv`, from the line that `sandbox start --json` prints when it is ready. */
export function envOfReadyLine(line: string): Record<string, string> {
  const { base_url, api_key, user_email, webhook_secret } = JSON.parse(line) as Record<
    'base_url' | 'api_key' | 'user_email' | 'webhook_secret',
    string
  >
  return serviceEnv(base_url, { apiKey: api_key, userEmail: user_email, webhookSecret: webhook_secret })
}

/** A quota that no test uses up, for a sandbox and for the program. */
export const roomyQuota = {
  quota: [{ calls: 10_000_000, seconds: 3600 }],
  env: { REFCHECK_QUOTA: '10000000/3600' },
}
