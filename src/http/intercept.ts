import { Agent, type Dispatcher, Dispatcher1Wrapper } from 'undici'

interface Interception {
  baseUrl: URL
  toTarget: (path: string) => URL
}

/** The newest interception first: it has precedence over an older one with the same base URL. */
const interceptions: Interception[] = []
let uninstall: (() => void) | undefined

/**
 * Redirects this process's calls to the base URL `baseUrl` (with or without a path): `toTarget` maps the path and
 * query below it to the URL that is called instead. It covers HttpClient, Node's `fetch` and every version of
 * undici; other calls are unchanged. Returns a function that ends the redirection.
 */
export function interceptCalls(baseUrl: URL, toTarget: (path: string) => URL): () => void {
  const interception = { baseUrl, toTarget }
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

/** Returns the URL to call instead of `url`; undefined if no interception applies. */
export function interceptedUrl(url: URL): URL | undefined {
  for (const { baseUrl, toTarget } of interceptions) {
    const base = baseUrl.pathname.replace(/\/$/, '')
    const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
    if (url.origin === baseUrl.origin && isBelow)
      return toTarget(url.pathname.slice(base.length) + url.search)
  }
  return undefined
}

/**
 * Replaces the two global properties in which callers find their dispatcher: Node's `fetch` and undici up to 7 use the
 * first one, undici 8 the second one. Returns a function that restores them.
 */
function installDispatchers(): () => void {
  const agent = new Agent()
  // Node sets its own dispatcher when `fetch` is loaded, so this is done before the dispatchers are replaced.
  void new Headers()
  const restores = [
    replaceDispatcher(
      'undici.globalDispatcher.1',
      (agentForKey) => new Dispatcher1Wrapper(agentForKey),
      agent,
    ),
    replaceDispatcher('undici.globalDispatcher.2', (agentForKey) => agentForKey, agent),
  ]
  return () => {
    for (const restore of restores) restore()
    void agent.destroy()
  }
}

/**
 * Replaces a global dispatcher. `adapt` gives an agent the interface that callers of this property expect. Returns a
 * function that restores it.
 */
function replaceDispatcher(key: string, adapt: (agent: Agent) => Dispatcher, agent: Agent): () => void {
  const globals = globalThis as unknown as Record<symbol, Dispatcher | undefined>
  const symbol = Symbol.for(key)
  // This dispatcher is set at the end even if the property was empty before: a copy of undici that was loaded meanwhile
  // has found a dispatcher there, and so has set none.
  const previous = globals[symbol] ?? adapt(new Agent())
  const intercepting = adapt(agent)
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    const url = `${options.origin === undefined ? '' : new URL(options.origin).origin}${options.path}`
    const target = URL.canParse(url) ? interceptedUrl(new URL(url)) : undefined
    if (target === undefined) return previous.dispatch(options, handler)
    return intercepting.dispatch(
      { ...options, origin: target.origin, path: target.pathname + target.search },
      handler,
    )
  }
  const replacement = Object.assign(Object.create(previous) as Dispatcher, { dispatch })
  const set = (dispatcher: Dispatcher): void =>
    void Object.defineProperty(globals, symbol, { value: dispatcher, writable: true })
  set(replacement)
  return () => {
    // A dispatcher that other code has set meanwhile is not replaced.
    if (globals[symbol] === replacement) set(previous)
  }
}
