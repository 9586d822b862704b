import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

import { type Clock, systemClock } from '../../host/clock.ts'

/** Sources of the built program by their URLs; empty until they are held. */
const held = new Map<string, Buffer>()

/**
 * Reads every file of the built program once, and loads from that copy from then on: whoever runs for long goes on as what
 * it is while the program is upgraded, whose files then have other names. `dist` ends with a slash.
 */
export function holdProgram(dist: URL): void {
  if (held.size > 0) return
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const url = new URL(name.replaceAll('\\', '/'), dist)
    if (name.endsWith('.cjs')) held.set(url.href, readFileSync(url))
  }
  registerHooks({
    resolve(specifier, context, next) {
      const { href } = /^\.\.?\//.test(specifier)
        ? new URL(specifier, context.parentURL ?? dist)
        : specifier.startsWith('/')
          ? pathToFileURL(specifier)
          : { href: specifier }
      return held.has(href) ? { url: href, format: 'commonjs', shortCircuit: true } : next(specifier, context)
    },
    load(url, context, next) {
      const source = held.get(url)
      return source === undefined ? next(url, context) : { source, format: 'commonjs', shortCircuit: true }
    },
  })
}

/** Whether a file of the program can be loaded, though it may be gone. */
export function isHeld(file: URL): boolean {
  return held.has(file.href)
}

/** Whoever waits a second may wait for hours, and then goes on with what is not loaded yet. */
const longMs = 1000

/** The machine's clock, which holds the program before the first long wait. */
export function holdingClock(hold: () => void): Clock {
  return {
    ...systemClock,
    sleep(ms, signal) {
      if (ms >= longMs) hold()
      return systemClock.sleep(ms, signal)
    },
  }
}
