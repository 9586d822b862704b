/** `work` is done as the last of all; what it does has to be done at once. `code`: with which the process ends. */
export function atExit(work: (code: number) => void): void {
  process.on('exit', work)
}
