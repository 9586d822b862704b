import { UsageError, IncompleteError, NotFoundError, type RefcheckError } from '../../errors/kinds.ts'
import type { RunningSandbox } from '../../sandbox/control/client.ts'

interface Setting {
  /** What the value may be, as it is printed. */
  values: readonly string[]
  /** The control that sets it, and its order; undefined for an invalid value. */
  order: (value: string) => [control: string, order: object] | undefined
}

const oneOf = (control: string, name: string, values: readonly string[]): Setting => ({
  values,
  order: (value) => (values.includes(value) ? [control, { [name]: value }] : undefined),
})

const user = (active: boolean): Setting => ({
  values: ['the e-mail of a user'],
  order: (email) => (email.includes('@') ? ['user', { email, active }] : undefined),
})

const settings: Readonly<Record<string, Setting>> = {
  'webhook-url': {
    values: ['a URL', 'none'],
    order: (value) => ['webhook', { url: value === 'none' ? null : value }],
  },
  credits: {
    values: ['a number', 'unlimited'],
    order(value) {
      if (value === 'unlimited') return ['credits', { credits: null }]
      return /^\d{1,9}$/.test(value) ? ['credits', { credits: Number(value) }] : undefined
    },
  },
  trial: oneOf('plan', 'trial', ['none', 'running', 'expired']),
  subscription: oneOf('plan', 'subscription', ['active', 'inactive']),
  'active-user': user(true),
  'inactive-user': user(false),
}

/** What `sandbox set` takes, a line each: the name and its values. */
const settingNames: readonly string[] = Object.keys(settings)

/** Changes one setting of a running sandbox. Throws UsageError where there is no such setting or value. */
export async function setInSandbox(
  sandbox: Pick<RunningSandbox, 'send'>,
  name: string,
  value: string,
): Promise<void> {
  const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (setting === undefined) {
    throw new UsageError(`no setting named "${name.slice(0, 60)}"`, {
      hint: `Settings: ${settingNames.join(', ')}`,
    })
  }
  const order = setting.order(value)
  if (order === undefined) {
    throw new UsageError(`${name} cannot be set to "${value.slice(0, 60)}"`, {
      hint: `Give ${setting.values.join(', ').replace(/, (?=[^,]+$)/, ' or ')}.`,
    })
  }
  await sandbox.send(...order)
}

export interface StoryDelivery {
  status: string
  /** `bad`: of another secret; the receiver has to refuse it. */
  signature: 'good' | 'bad'
  /** Null where there was no answer. */
  http_status: number | null
  failure: string | null
  ms: number
}

export interface StoryResult {
  story: string
  request_id: string
  deliveries: StoryDelivery[]
}

/**
 * Has a sandbox play a story; what its receiver answered, and an IncompleteError where that is not what it should
 * answer. Throws UsageError, before anything is posted, where the service is no sandbox of ours.
 */
export async function triggerStory(
  sandbox: RunningSandbox,
  story: string,
  to: string | undefined,
): Promise<{ result: StoryResult; failure: RefcheckError | undefined }> {
  await requireSandbox(sandbox)
  const result = (await sandbox.send('trigger', to === undefined ? { story } : { story, to })) as StoryResult
  return { result, failure: failureOf(result.deliveries) }
}

/** Whether the receiver did as it has to: it takes what is signed, and answers a refusal to what is not. */
export function isRight({ signature, http_status: status }: StoryDelivery): boolean {
  if (status === null) return false
  return (status >= 200 && status < 300) === (signature === 'good')
}

/** The control interface answers with the state of a sandbox: no other service does. */
async function requireSandbox(sandbox: RunningSandbox): Promise<void> {
  const hint = 'Name a sandbox with --base-url, or start one with: refcheck sandbox start --login'
  const state = await sandbox.read('state').catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new UsageError(error.message, { hint, cause: error })
    throw error
  })
  const { clock, seed, requests } = (state ?? {}) as { clock?: unknown; seed?: unknown; requests?: unknown }
  if ((clock === 'real' || clock === 'manual') && typeof seed === 'string' && typeof requests === 'object')
    return
  throw new UsageError('the service is not a sandbox that can be controlled', { hint })
}

function failureOf(deliveries: readonly StoryDelivery[]): IncompleteError | undefined {
  const wrong = deliveries.filter((each) => !isRight(each))
  if (wrong.length === 0) return undefined
  const of = `${wrong.length} of ${deliveries.length} events`
  if (wrong.every(({ http_status: status }) => status === null)) {
    return new IncompleteError(`the receiver did not answer ${of}`, {
      hint: 'Check the URL, and that the receiver is running.',
    })
  }
  return wrong.some(({ signature }) => signature === 'bad')
    ? new IncompleteError(`the receiver did not answer ${of} as it has to: it accepted a bad signature`, {
        hint: 'Anybody could send it events. It has to verify the signature over the exact bytes.',
      })
    : new IncompleteError(`the receiver did not answer ${of} with 2xx`, {
        hint: 'Check that it has the webhook secret of the sandbox, and find the cause with: refcheck webhook check-receiver URL',
      })
}

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
