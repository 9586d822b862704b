import type { RefcheckError } from '../../errors/base.ts'
import { IncompleteError, NotFoundError, UsageError } from '../../errors/kinds.ts'
import type { RunningSandbox } from '../../sandbox/control/client.ts'

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
