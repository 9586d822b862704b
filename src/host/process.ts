/** This process's id. */
export function processId(): number {
  return process.pid
}

/** The account this process runs as; undefined on Windows, where files have no such number. */
export function ownUserId(): number | undefined {
  return process.geteuid?.()
}

/** `work` is done as the last of all; what it does has to be done at once. `code`: with which the process ends. */
export function atExit(work: (code: number) => void): void {
  process.on('exit', work)
}
