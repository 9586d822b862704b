/** Milliseconds of processor time that some work takes, however busy the machine is. */
export function processorMs(work: () => void): number {
  const since = process.threadCpuUsage().user
  work()
  return (process.threadCpuUsage().user - since) / 1000
}
