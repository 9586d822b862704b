import { Worker } from 'node:worker_threads'

/** Far longer than a seed takes: a second, or a minute on a busy machine. */
const defaultMaxMs = 600_000

const watchdogSource = `
  const { writeSync } = require('node:fs')
  const { started, maxMs } = require('node:worker_threads').workerData
  for (;;) {
    const seed = Atomics.load(started, 0)
    if (Atomics.wait(started, 0, seed, maxMs) !== 'timed-out') continue
    writeSync(2, 'seed ' + seed + ' was not over after ' + maxMs + ' ms\\n')
    process.kill(process.pid, 'SIGKILL')
  }`

/**
 * Returns a function to call at the start of each seed. If a seed takes longer than `maxMs`, the process is
 * killed, and the number of the seed is printed.
 */
export function limitSeedDuration(maxMs = defaultMaxMs): (seed: number) => void {
  const started = new Int32Array(new SharedArrayBuffer(4))
  new Worker(watchdogSource, { eval: true, workerData: { started, maxMs }, execArgv: [] }).unref()
  return (seed) => {
    Atomics.store(started, 0, seed)
    Atomics.notify(started, 0)
  }
}
