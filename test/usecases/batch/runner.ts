import type { ManualClock } from '../../harness/manual-clock.ts'
import type { Script, ScriptedApi } from '../request/scripted-api.ts'
import { createScriptedServices } from '../request/scripted-ordering.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { fileBatch, orderRows, statesOf } from '../../store/ledger/files.ts'
import type { Api } from '../../../src/api/api.ts'
import type { User } from '../../../src/contract/user.ts'
import type { NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import type { BatchEvent, RunEvent, RunLimits } from '../../../src/domain/batch/run-policy.ts'
import { windowsFor } from '../../../src/domain/quota/windows.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Prompter } from '../../../src/prompt/prompter.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { StartServices } from '../../../src/usecases/batch/start.ts'
import { sendPendingRows } from '../../../src/usecases/batch/runner.ts'
import { createGovernor } from '../../../src/usecases/quota/governor.ts'

export const noLimit: RunLimits = {
  maxOrders: Number.POSITIVE_INFINITY,
  waitBudgetMs: Number.POSITIVE_INFINITY,
}

const owner: User = {
  id: 'u-1',
  first_name: 'Olive',
  last_name: 'Owner',
  email: 'owner@example.com',
  role: 'owner',
  teams: [],
  job_title: '',
}

/** Opens a store in memory. */
export function memoryStore(): Promise<Store> {
  const folder = '/nowhere'
  const paths = { config: folder, data: folder }
  return openStore({
    chosenAddress: ':memory:',
    paths,
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
    lockWaitMs: 0,
    reconnectMs: 0,
    onMessage: () => undefined,
  })
}

/** Services and settings that a test replaces in a run. */
interface RunOverrides extends Script {
  ledger?: Partial<Ledger>
  api?: Partial<Api>
  signal?: AbortSignal
  windows?: { calls: number; seconds: number }[]
  clock?: ManualClock
  prompter?: Prompter
  onEvent?: (event: RunEvent) => void
}

interface Runner {
  ports: StartServices
  api: ScriptedApi
  clock: ManualClock
  events: RunEvent[]
  batchEvents: BatchEvent[]
}

/** Returns the services of a run, with a real store and a scripted service whose health check succeeds. */
export function createRunner(store: Store, overrides: RunOverrides = {}): Runner {
  const { ledger = {}, signal, windows, clock: given, prompter, onEvent, ...script } = overrides
  const ordering = createScriptedServices(
    { ledger: { ...bindLedger(store.ledger), ...ledger }, batches: store.batches },
    script,
    {
      ...(signal && { signal }),
      ...(given && { clock: given }),
    },
  )
  const { clock, random, api } = ordering
  Object.assign(api, {
    ping: () => Promise.resolve({ status: 'ok', latency_ms: 1 }),
    listUsers: () => Promise.resolve([owner]),
    ...overrides.api,
  } satisfies Partial<Api>)
  const events: RunEvent[] = []
  const batchEvents: BatchEvent[] = []
  const addEvent = (event: RunEvent): void => {
    // Recipients are left out of the events, because each file has other people; test/commands tests that names are
    // shown.
    events.push(event.name === 'row' ? { ...event, recipient: undefined } : event)
    onEvent?.(event)
  }
  const ports: StartServices = {
    api,
    ledger: ordering.ledger,
    packageNames: { get: async () => new Map(), put: async () => {}, forUsers: async () => () => undefined },
    clock,
    random,
    signal,
    batches: ordering.batches,
    heldRows: store.heldRows,
    inbox: store.inbox,
    unmatched: store.unmatched,
    governor: createGovernor({
      quota: store.quota,
      account: 'one',
      windows: windows ?? windowsFor(api.baseUrl, undefined),
      clock,
    }),
    schemas: ordering.schemas,
    onEvent: addEvent,
    files: { cwd: '/nowhere', stdin: { isTTY: false, stream: emptyInput() } },
    prompter,
    progress: { onStart: () => undefined, onEvent: addEvent },
    onBatchEvent: (event) => batchEvents.push(event),
    waitBudgetMs: Number.POSITIVE_INFINITY,
  }
  return { ports, api, clock, events, batchEvents }
}

async function* emptyInput(): AsyncGenerator<Uint8Array> {
  // Nothing is piped in.
}

/** Adds a batch to the store, with three rows by default. */
export async function addBatch(
  store: Store,
  { rows = orderRows(3), ...changes }: Partial<NewFileBatch> & { rows?: NewRow[] } = {},
): Promise<NewFileBatch> {
  const batch = fileBatch(changes)
  await store.batches.add(batch, rows)
  return batch
}

/** Adds a batch of three rows and sends them. */
export async function runThreeRows(store: Store, overrides: RunOverrides, limits: Partial<RunLimits> = {}) {
  const batch = await addBatch(store)
  const { ports, api, clock, events } = createRunner(store, overrides)
  const end = await sendPendingRows(ports, batch.id, { ...noLimit, ...limits }).catch((error: unknown) => ({
    thrown: error,
  }))
  const states = await statesOf(store, batch.id)
  return { end, events, states, sent: api.sentBodies.length, sleeps: clock.sleeps, batch, api }
}
