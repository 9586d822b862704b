/** Set in the environment of everything that `refcheck mcp` starts. */
export const agentMark = 'REFCHECK_STARTED_BY_AGENT'
