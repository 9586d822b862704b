/** The environment variables as a value. */
export type Environment = Readonly<Record<string, string | undefined>>

export const processEnvironment = (): Environment => process.env

/** A variable's value; an empty one counts as absent. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

/** Set in the environment of everything that `refcheck mcp` starts. */
export const agentMark = 'REFCHECK_STARTED_BY_AGENT'
