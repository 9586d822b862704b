/** This process's id. */
export function processId(): number {
  return process.pid
}

/** The account this process runs as; undefined on Windows, where files have no such number. */
export function ownUserId(): number | undefined {
  return process.geteuid?.()
}
