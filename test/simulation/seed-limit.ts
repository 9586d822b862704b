import { Worker } from 'node:worker_threads'

/** A seed takes a second, and on a busy machine a minute. */
const usualMs = 600_000

const watch = `
  const { writeSync } = require('node:fs')
  const { started, longestMs } = require('node:worker_threads').workerData
  for (;;) {
    const seed = Atomics.load(started, 0)
    if (Atomics.wait(started, 0, seed, longestMs) !== 'timed-out') continue
    writeSync(2, 'seed ' + seed + ' was not over after ' + longestMs + ' ms\\n')
    process.kill(process.pid, 'SIGKILL')
  }`

/** Call what it answers at the beginning of each seed: where one stands still, or loops, the process ends and says so. */
export function seedLimit(longestMs = usualMs): (seed: number) => void {
  const started = new Int32Array(new SharedArrayBuffer(4))
  new Worker(watch, { eval: true, workerData: { started, longestMs }, execArgv: [] }).unref()
  return (seed) => {
    Atomics.store(started, 0, seed)
    Atomics.notify(started, 0)
  }
}
