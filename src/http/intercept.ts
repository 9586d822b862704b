import { Agent, type Dispatcher, Dispatcher1Wrapper } from 'undici'

interface Interception {
  from: URL
  to: (path: string) => URL
}

/** The latest first: it is the one that applies where two have the same base URL. */
const interceptions: Interception[] = []
let uninstall: (() => void) | undefined

/**
 * Redirects this process's calls to the base URL `from` (with or without a path): `to` maps the path and
 * query below it to the URL that is called instead. It covers HttpClient, Node's `fetch` and every version of
 * undici; other calls are unchanged. Returns a function that ends the redirection.
 */
export function interceptCalls(from: URL, to: (path: string) => URL): () => void {
  const interception = { from, to }
  interceptions.unshift(interception)
  uninstall ??= installDispatchers()
  return () => {
    const index = interceptions.indexOf(interception)
    if (index === -1) return
    interceptions.splice(index, 1)
    if (interceptions.length > 0) return
    uninstall?.()
    uninstall = undefined
  }
}

/** Where a call to `url` goes instead; undefined where its base URL is not intercepted. */
export function interceptedUrl(url: URL): URL | undefined {
  for (const { from, to } of interceptions) {
    const base = from.pathname.replace(/\/$/, '')
    const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
    if (url.origin === from.origin && isBelow) return to(url.pathname.slice(base.length) + url.search)
  }
  return undefined
}

/** Node's `fetch` and undici up to 7 use the first property, undici 8 the second one. */
function installDispatchers(): () => void {
  const agent = new Agent()
  // Node sets its dispatcher when its fetch is loaded, instead of one that was set before.
  void new Headers()
  const restores = [
    replaceDispatcher('undici.globalDispatcher.1', (own) => new Dispatcher1Wrapper(own), agent),
    replaceDispatcher('undici.globalDispatcher.2', (interceptedDispatcher) => interceptedDispatcher, agent),
  ]
  return () => {
    for (const restore of restores) restore()
    void agent.destroy()
  }
}

/** `adapt` gives an agent the interface that callers of this property expect. */
function replaceDispatcher(key: string, adapt: (agent: Agent) => Dispatcher, agent: Agent): () => void {
  const globals = globalThis as unknown as Record<symbol, Dispatcher | undefined>
  const symbol = Symbol.for(key)
  // Is set again at the end, even where none was set: a copy of undici loaded meanwhile has found one and set
  // none.
  const before = globals[symbol] ?? adapt(new Agent())
  const own = adapt(agent)
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    const url = `${options.origin === undefined ? '' : new URL(options.origin).origin}${options.path}`
    const to = URL.canParse(url) ? interceptedUrl(new URL(url)) : undefined
    if (to === undefined) return before.dispatch(options, handler)
    return own.dispatch({ ...options, origin: to.origin, path: to.pathname + to.search }, handler)
  }
  const replacement = Object.assign(Object.create(before) as Dispatcher, { dispatch })
  const set = (dispatcher: Dispatcher): void =>
    void Object.defineProperty(globals, symbol, { value: dispatcher, writable: true })
  set(replacement)
  return () => {
    // A dispatcher that other code has set since is not replaced.
    if (globals[symbol] === replacement) set(before)
  }
}
