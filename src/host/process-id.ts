/** This process's id. */
export function processId(): number {
  return process.pid
}
