import type { RunningSandbox } from '../../sandbox/control/client.ts'

interface Message {
  body: string | null
}

/** One thing that happened in a sandbox; `n` counts from 0. */
export interface NumberedEntry {
  n: number
  kind: string
  path?: string
  status?: string | number | null
  request_id?: string
  outcome?: string
  request?: Message | undefined
  response?: Message | null | undefined
}

/** What to leave out; an entry has to fit all that are given. */
export interface LogFilter {
  /** Of a call; `*` stands for any part of it. */
  path?: string | undefined
  /** HTTP status of a call or of a receiver's answer, such as 404 or 4xx; or status of a request, such as PARTIAL. */
  status?: string | undefined
  /** Id of a request: calls that name it, its changes of status and its events. */
  request?: string | undefined
}

interface LogOptions extends LogFilter {
  /** With headers and bodies. */
  bodies: boolean
}

/** Seconds that the sandbox keeps a question for more before it answers with none. */
const waitSeconds = 20

/** The last thousand entries, oldest first, as far as they fit. */
export async function readLog<Entry extends NumberedEntry>(
  sandbox: Pick<RunningSandbox, 'read'>,
  options: LogOptions,
): Promise<Entry[]> {
  return selected((await sandbox.read(`log?bodies=${needsBodies(options)}`)) as Entry[], options)
}

/** What happens in a running sandbox from now on, and what it still knows of before; ends when `signal` is aborted. */
export async function* followLog<Entry extends NumberedEntry>(
  sandbox: Pick<RunningSandbox, 'read'>,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  let from = 0
  while (!signal.aborted) {
    let entries: Entry[]
    try {
      const what = `log?from=${from}&wait=${waitSeconds}&bodies=${needsBodies(options)}`
      entries = (await sandbox.read(what, signal)) as Entry[]
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    yield* selected(entries, options)
    from = (entries.at(-1)?.n ?? from - 1) + 1
  }
}

/** A create names its request in the answer alone. */
const needsBodies = ({ bodies, request }: LogOptions): 0 | 1 => (bodies || request !== undefined ? 1 : 0)

function selected<Entry extends NumberedEntry>(entries: readonly Entry[], options: LogOptions): Entry[] {
  const fitting = entries.filter((entry) => fits(entry, options))
  if (options.bodies) return fitting
  return fitting.map((entry) => {
    const { request: _request, response: _response, ...rest } = entry
    return rest as Entry
  })
}

function fits(entry: NumberedEntry, { path, status, request }: LogFilter): boolean {
  if (path !== undefined && (entry.path === undefined || !globOf(path).test(entry.path))) return false
  if (status !== undefined && !statusesOf(entry).some((each) => statusPattern(status).test(each)))
    return false
  return request === undefined || concerns(entry, request)
}

function statusesOf({ status, outcome }: NumberedEntry): string[] {
  return [status, outcome].flatMap((each) => (each === undefined || each === null ? [] : [String(each)]))
}

/** "4xx" is any of 400 to 499. */
function statusPattern(status: string): RegExp {
  return new RegExp(`^${/^\dxx$/i.test(status) ? `${status.slice(0, 1)}\\d\\d` : status}$`, 'i')
}

function globOf(path: string): RegExp {
  const parts = path.split('*').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

function concerns(entry: NumberedEntry, id: string): boolean {
  const named = [entry.request_id, entry.path, entry.request?.body, entry.response?.body]
  return named.some((text) => text?.toLowerCase().includes(id) === true)
}
