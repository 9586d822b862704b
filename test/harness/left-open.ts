import { afterAll } from 'vitest'

/** Types of resources that a test file may not leave open: they keep the process running or handle its events. */
const resourceTypes = /^(TCP|TLS|UDP|Pipe|Process|FSEvent|StatWatcher|Signal|Timeout|Worker|MessagePort)/

/** Events whose listeners are compared. Libraries add listeners of other events when they are loaded. */
const watchedEvents = ['uncaughtException', 'unhandledRejection', 'warning', 'SIGINT', 'SIGTERM', 'SIGHUP']

/** Maximum wait for resources that are closing: a socket ends some turns after its server or client was closed. */
const maxClosingMs = 5_000

/** Returns the state of the process that outlives a test file, as lines that can be compared. */
function readState(): string[] {
  const resources = process.getActiveResourcesInfo().filter((name) => resourceTypes.test(name))
  const variables = Object.entries(process.env)
    // Vitest sets these before each file.
    .filter(([name]) => !name.startsWith('VITEST'))
    .map(([name, value]) => `variable ${name}=${value}`)
  const listeners = watchedEvents.flatMap((name) =>
    Array.from({ length: process.listenerCount(name) }, () => `listener ${name}`),
  )
  const others = [`folder ${process.cwd()}`, `umask ${process.umask()}`]
  return [...resources, ...variables, ...listeners, ...others]
}

/** Returns the lines that `after` contains more often than `before`. */
function findAdded(before: readonly string[], after: readonly string[]): string[] {
  const remaining = [...before]
  return after.filter((line) => {
    const at = remaining.indexOf(line)
    if (at >= 0) remaining.splice(at, 1)
    return at < 0
  })
}

// Test files share one process (`isolate: false`), so a server, timer or variable that one file leaves behind
// affects the next file. This module runs once for each file, around the hooks of that file.
const before = readState()

afterAll(async () => {
  const start = performance.now()
  let added = findAdded(before, readState())
  while (added.length > 0 && performance.now() - start < maxClosingMs) {
    await new Promise((resolve) => setImmediate(resolve))
    added = findAdded(before, readState())
  }
  if (added.length > 0) throw new Error(`this file left behind: ${added.join(', ')}`)
})
