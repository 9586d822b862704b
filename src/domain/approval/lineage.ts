/** A process of this machine, which no later one with the same id is taken for. */
export interface ProcessMark {
  pid: number
  /** What the system says of its start; the same for nobody else with this id. */
  started: string
}

/** A process among the ancestors of one; the nearest first. */
export interface Ancestor extends ProcessMark {
  /** Its process group: what one job of a shell shares. */
  group: number
}

/** What starts all others. */
const init = 1

/**
 * The server and the program that runs the agent: what started the server, and what started that as far as it is of the
 * same process group. A person's own shell gives each job a group of its own, so it is none of them.
 */
export function agentProcesses(lineage: readonly Ancestor[]): ProcessMark[] {
  const [server, ...above] = lineage
  if (server === undefined) return []
  const other = above.findIndex(({ group }) => group !== server.group)
  const ofGroup = other === -1 ? above.length : other
  return [server, ...above.slice(0, Math.max(1, ofGroup))]
    .filter(({ pid }) => pid !== init)
    .map(({ pid, started }) => ({ pid, started }))
}

/** Whether a process was started by one of these, however far up. */
export function isWithin(lineage: readonly ProcessMark[], agents: readonly ProcessMark[]): boolean {
  return lineage.some(({ pid, started }) =>
    agents.some((agent) => agent.pid === pid && agent.started === started),
  )
}
