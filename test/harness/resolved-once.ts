import { registerHooks, type ResolveFnOutput } from 'node:module'

// Vitest reports every import to its main process, also the tenth of the same module: `import()` in a command is
// one. What was resolved once is answered from here, and not reported again.
const known = new Map<string, ResolveFnOutput>()
const registered = Symbol.for('refcheck.test.resolved-once')

if (!Object.hasOwn(globalThis, registered)) {
  Object.assign(globalThis, { [registered]: true })
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL === undefined || /[?%]/.test(specifier)) return nextResolve(specifier, context)
      const key = JSON.stringify([specifier, context])
      const resolved = known.get(key) ?? nextResolve(specifier, context)
      known.set(key, resolved)
      return { ...resolved, shortCircuit: true }
    },
  })
}
