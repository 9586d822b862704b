/** Milliseconds of processor time that some work takes, however busy the machine is. */
export function processorMs(work: () => void): number {
  const startMicroseconds = process.threadCpuUsage().user
  work()
  return (process.threadCpuUsage().user - startMicroseconds) / 1000
}
