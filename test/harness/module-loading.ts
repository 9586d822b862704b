import { flushCompileCache, registerHooks, type ResolveFnOutput, setSourceMapsSupport } from 'node:module'

import { afterAll } from 'vitest'

const ownModules = /\/(?:src|test)\/[^?%]*\.ts$/
// Vitest reports each resolved import to its main process, also the tenth of the same module: `import()` in a command is
// one. Those that were resolved before are answered from here, and so are those whose path is in the import itself.
const known = new Map<string, ResolveFnOutput>()
const registered = Symbol.for('refcheck.test.module-loading')

if (!Object.hasOwn(globalThis, registered)) {
  Object.assign(globalThis, { [registered]: true })
  // Types are stripped in place, so a position in a source is the one in its file, without a source map.
  setSourceMapsSupport(false)
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL } = context
      if (parentURL === undefined || /[?%]/.test(specifier)) return nextResolve(specifier, context)
      if (/^\.\.?\/.*\.ts$/.test(specifier) && ownModules.test(parentURL))
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true }
      const key = JSON.stringify([specifier, context])
      const resolved = known.get(key) ?? nextResolve(specifier, context)
      known.set(key, resolved)
      return { ...resolved, shortCircuit: true }
    },
  })
}

// A worker is ended by a signal, so its compiled code is stored after each file, for other workers and later
// runs.
afterAll(() => flushCompileCache())
