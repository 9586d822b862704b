import { UsageError, IncompleteError, NotFoundError, type RefcheckError } from '../../errors/kinds.ts'
import type { RunningSandbox } from '../../sandbox/control/client.ts'
import type { StoryResult } from '../../sandbox/control/embedded.ts'

interface Setting {
  /** The possible values, as the hint shows them. */
  values: readonly string[]
  /** Returns the control path and its JSON body for a value; undefined if the value is invalid. */
  controlCallFor: (value: string) => [control: string, body: object] | undefined
}

const choiceSetting = (control: string, name: string, values: readonly string[]): Setting => ({
  values,
  controlCallFor: (value) => (values.includes(value) ? [control, { [name]: value }] : undefined),
})

const userSetting = (active: boolean): Setting => ({
  values: ['the e-mail of a user'],
  controlCallFor: (email) => (email.includes('@') ? ['user', { email, active }] : undefined),
})

const settings: Readonly<Record<string, Setting>> = {
  'webhook-url': {
    values: ['a URL', 'none'],
    controlCallFor: (value) => ['webhook', { url: value === 'none' ? null : value }],
  },
  credits: {
    values: ['a number', 'unlimited'],
    controlCallFor(value) {
      if (value === 'unlimited') return ['credits', { credits: null }]
      return /^\d{1,9}$/.test(value) ? ['credits', { credits: Number(value) }] : undefined
    },
  },
  trial: choiceSetting('plan', 'trial', ['none', 'running', 'expired']),
  subscription: choiceSetting('plan', 'subscription', ['active', 'inactive']),
  'active-user': userSetting(true),
  'inactive-user': userSetting(false),
}

/** Changes one setting of a running sandbox. Throws UsageError if there is no such setting or value. */
export async function setInSandbox(
  sandbox: Pick<RunningSandbox, 'send'>,
  name: string,
  value: string,
): Promise<void> {
  const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (setting === undefined) {
    throw new UsageError(`no setting named "${name.slice(0, 60)}"`, {
      hint: `Settings: ${Object.keys(settings).join(', ')}`,
    })
  }
  const controlCall = setting.controlCallFor(value)
  if (controlCall === undefined) {
    throw new UsageError(`${name} cannot be set to "${value.slice(0, 60)}"`, {
      hint: `Give ${setting.values.join(', ').replace(/, (?=[^,]+$)/, ' or ')}.`,
    })
  }
  await sandbox.send(...controlCall)
}

type StoryDelivery = StoryResult['deliveries'][number]

/**
 * Makes a sandbox send the events of a story: the course of one request, with the order in which its events are sent.
 * `receiverUrl`: where they are sent; by default the webhook URL of the sandbox. Returns the receiver's responses, with
 * an IncompleteError if they are not the expected ones. Throws UsageError, before an event is posted, if the service is
 * not a refcheck sandbox.
 */
export async function triggerStory(
  sandbox: RunningSandbox,
  story: string,
  receiverUrl: string | undefined,
): Promise<{ result: StoryResult; failure: RefcheckError | undefined }> {
  await requireSandbox(sandbox)
  const body = receiverUrl === undefined ? { story } : { story, to: receiverUrl }
  const result = (await sandbox.send('trigger', body)) as StoryResult
  return { result, failure: failureOf(result.deliveries) }
}

/** Whether the receiver responded correctly: with 2xx to a good signature, and with another status to a bad one. */
export function hasExpectedStatus({
  signature,
  http_status: status,
}: Pick<StoryDelivery, 'signature' | 'http_status'>): boolean {
  if (status === null) return false
  return (status >= 200 && status < 300) === (signature === 'good')
}

/** Checks that the control interface returns the state of a sandbox, which no other service does. */
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
  const wrongDeliveries = deliveries.filter((each) => !hasExpectedStatus(each))
  if (wrongDeliveries.length === 0) return undefined
  const eventsText = `${wrongDeliveries.length} of ${deliveries.length} events`
  if (wrongDeliveries.every(({ http_status: status }) => status === null)) {
    return new IncompleteError(`the receiver did not answer ${eventsText}`, {
      hint: 'Check the URL, and that the receiver is running.',
    })
  }
  return wrongDeliveries.some(({ signature }) => signature === 'bad')
    ? new IncompleteError(
        `the receiver did not answer ${eventsText} as it has to: it accepted a bad signature`,
        {
          hint: 'Anybody could send it events. It has to verify the signature over the exact bytes.',
        },
      )
    : new IncompleteError(`the receiver did not answer ${eventsText} with 2xx`, {
        hint: 'Check that it has the webhook secret of the sandbox, and find the cause with: refcheck webhook check-receiver URL',
      })
}

interface Message {
  body: string | null
}

/** One entry of a sandbox's log; `n` counts from 0. */
export interface NumberedEntry {
  n: number
  kind: string
  path?: string
  status?: string | number | null
  request_id?: string
  /** For a delivery: the receiver's HTTP status, or the reason of the failure. */
  outcome?: string
  request?: Message | undefined
  response?: Message | null | undefined
}

/** Conditions for the entries to print; an entry has to meet all that are given. */
export interface LogFilter {
  /** Path of a call; `*` matches any part of it. */
  path?: string | undefined
  /** HTTP status of a call or of a receiver's answer, such as 404 or 4xx; or status of a request, such as PARTIAL. */
  status?: string | undefined
  /** Id of a request: calls that name it, its changes of status and its events. */
  request?: string | undefined
}

interface LogOptions extends LogFilter {
  /** Whether to include headers and bodies. */
  bodies: boolean
}

/** Seconds that the sandbox waits for new entries before it responds with an empty list. */
const longPollSeconds = 20

/** Returns those of the last thousand entries that match the filter, oldest first. */
export async function readLog<Entry extends NumberedEntry>(
  sandbox: Pick<RunningSandbox, 'read'>,
  options: LogOptions,
): Promise<Entry[]> {
  return selectEntries((await sandbox.read(`log?bodies=${needsBodies(options)}`)) as Entry[], options)
}

/** Yields the entries that a running sandbox still has, and then new ones until `signal` is aborted. */
export async function* followLog<Entry extends NumberedEntry>(
  sandbox: Pick<RunningSandbox, 'read'>,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  let firstNumber = 0
  while (!signal.aborted) {
    const path = `log?from=${firstNumber}&wait=${longPollSeconds}&bodies=${needsBodies(options)}`
    const entries = (await sandbox.read(path, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
      return []
    })) as Entry[]
    yield* selectEntries(entries, options)
    firstNumber = (entries.at(-1)?.n ?? firstNumber - 1) + 1
  }
}

/**
 * Bodies are needed for a filter by request too: a call that creates a request contains its id only in the response.
 */
const needsBodies = ({ bodies, request }: LogOptions): 0 | 1 => (bodies || request !== undefined ? 1 : 0)

function selectEntries<Entry extends NumberedEntry>(entries: readonly Entry[], options: LogOptions): Entry[] {
  const matchingEntries = entries.filter((entry) => matchesFilter(entry, options))
  if (options.bodies) return matchingEntries
  return matchingEntries.map((entry) => {
    const { request: _request, response: _response, ...rest } = entry
    return rest as Entry
  })
}

function matchesFilter(entry: NumberedEntry, { path, status, request }: LogFilter): boolean {
  if (path !== undefined && (entry.path === undefined || !globPattern(path).test(entry.path))) return false
  if (status !== undefined && !statusesOf(entry).some((each) => statusPattern(status).test(each)))
    return false
  return request === undefined || mentionsRequest(entry, request)
}

function statusesOf({ status, outcome }: NumberedEntry): string[] {
  return [status, outcome].flatMap((each) => (each === undefined || each === null ? [] : [String(each)]))
}

/** Returns the pattern of a status; "4xx" matches 400 to 499. */
function statusPattern(status: string): RegExp {
  return new RegExp(`^${/^\dxx$/i.test(status) ? `${status.slice(0, 1)}\\d\\d` : status}$`, 'i')
}

function globPattern(path: string): RegExp {
  const parts = path.split('*').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

function mentionsRequest(entry: NumberedEntry, id: string): boolean {
  const texts = [entry.request_id, entry.path, entry.request?.body, entry.response?.body]
  return texts.some((text) => text?.toLowerCase().includes(id) === true)
}
