import { flushCompileCache, registerHooks, type ResolveFnOutput, setSourceMapsSupport } from 'node:module'

import { afterAll } from 'vitest'

const ownModules = /\/(?:src|test)\/[^?%]*\.ts$/
// Vitest reports each resolved import to its main process, even for a module that was imported before, for example by
// `import()` in a command. Imports that were resolved before, and relative imports, are resolved here without a report.
const resolvedImports = new Map<string, ResolveFnOutput>()
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
      const resolved = resolvedImports.get(key) ?? nextResolve(specifier, context)
      resolvedImports.set(key, resolved)
      return { ...resolved, shortCircuit: true }
    },
  })
}

// A worker is ended by a signal, so its compiled code is stored after each file, for other workers and later
// runs.
afterAll(() => flushCompileCache())
