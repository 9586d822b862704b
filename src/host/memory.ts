import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collector = (options: { type: 'minor' }) => void

/** The garbage collector runs after this many bytes. */
const bytesPerCollection = 8 * 1024 * 1024

/**
 * Returns a function that takes the number of bytes of each read, and collects young objects after every 8 MiB, which
 * takes about a millisecond. Each read of a socket allocates a buffer outside the JavaScript heap, and V8 would collect
 * these only after 64 MB or more.
 */
export function createGarbageTrigger(): (bytes: number) => void {
  let collect: Collector | undefined
  let uncollected = 0
  return (bytes) => {
    uncollected += bytes
    if (uncollected < bytesPerCollection) return
    uncollected = 0
    collect ??= createCollector()
    collect({ type: 'minor' })
  }
}

/** The collector comes from a new context, so that code of the main context has no `gc` function. */
function createCollector(): Collector {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collector
}
