import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collector = (options: { type: 'minor' }) => void

/** Bytes that may pass between two collections. */
const everyBytes = 8 * 1024 * 1024

/**
 * Keeps memory flat while many bytes pass through. Each read of a socket leaves a buffer behind that
 * lives outside the JavaScript heap, and V8 lets 64 MB and more of them pile up before it looks.
 * Called with the number of bytes as they come, this has the youngest objects collected now and then, which takes
 * about a millisecond.
 */
export function flatMemory(): (bytes: number) => void {
  let collect: Collector | undefined
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < everyBytes) return
    passed = 0
    collect ??= collector()
    collect({ type: 'minor' })
  }
}

/** The collector of a context made for it; what runs here does not see it. */
function collector(): Collector {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collector
}
