import { Crash } from './scheduler.ts'
import { createBody, createNewRow } from './people.ts'
import { baseUrl, type PeopleFile, type Process, type World } from './world.ts'
import type { Batch, BatchRow } from '../../src/domain/batch/batch.ts'
import { fileIdentity } from '../../src/domain/batch/new-row.ts'
import { RefcheckError } from '../../src/errors/kinds.ts'
import type { MovableRow } from '../../src/store/ledger/held-rows.ts'
import { reconcileAndSend } from '../../src/usecases/batch/start.ts'
import { readAndLinkPackages } from '../../src/usecases/batch/packages.ts'
import { retryBatch } from '../../src/usecases/batch/change-batch.ts'
import { reconcileByEvidence, reconcileByDecision } from '../../src/usecases/batch/reconcile-batch.ts'
import { findBatchToRun } from '../../src/usecases/batch/read-batch.ts'
import { createRequest } from '../../src/usecases/request/create.ts'

/** The work of one process, for example a command. */
export type Action = (world: World, process: Process) => Promise<void>

/** Runs `action` in a process, which may be killed meanwhile, and then releases its leases. */
export async function runProcess(world: World, process: Process, action: Action): Promise<void> {
  try {
    await runIgnoringRefusals(world, process, action)
  } finally {
    await world.releaseProcess(process)
  }
}

export async function runIgnoringRefusals(world: World, process: Process, action: Action): Promise<void> {
  try {
    await action(world, process)
  } catch (error) {
    const isExpected = process.steps.isKilled || error instanceof RefcheckError || error instanceof Crash
    if (!isExpected) throw error
  }
}

/** `batch run FILE`: adds the file as a batch, or continues its batch if the file was added before. */
export const runFile =
  (file: PeopleFile): Action =>
  async (world, { ports }) => {
    const { batches, clock, random } = ports
    const identity = fileIdentity({ account: '', baseUrl }, file.name, file.offer.id)
    const existing = await batches.findByIdentity(identity)
    if (existing !== undefined) return continueBatch(world, ports, existing)
    await readAndLinkPackages(ports)
    const id = random.uuid()
    const rows = file.rows.map(({ human, spellingIndex }, index) =>
      createNewRow(index + 1, human.spellings[spellingIndex] ?? human.spellings[0]!, file.offer),
    )
    const batch = {
      id,
      addedAt: clock.now(),
      baseUrl,
      userEmail: ports.api.userEmail,
      identity,
      name: file.name,
      sha256: file.name,
      packageId: file.offer.id,
      path: undefined,
      resultsFile: undefined,
      reading: '{}',
      allowDuplicate: file.allowDuplicate,
      allowSimilar: file.allowSimilar,
    }
    if (file.allowSimilar) world.batchesAllowingSimilar.add(id)
    const added = await batches.add(batch, rows)
    await send(ports, added?.id ?? id)
  }

/** `batch resume`. */
export const resumeBatch =
  (batchId: string): Action =>
  async (world, { ports }) => {
    const batch = await ports.batches.find(batchId)
    if (batch !== undefined) await continueBatch(world, ports, batch)
  }

async function continueBatch(_world: World, ports: Process['ports'], batch: Batch): Promise<void> {
  await send(ports, (await findBatchToRun(ports, batch.id)).id)
}

async function send(ports: Process['ports'], batchId: string): Promise<void> {
  await reconcileAndSend(ports, batchId, {
    maxOrders: Number.POSITIVE_INFINITY,
    waitBudgetMs: Number.POSITIVE_INFINITY,
    shouldCheckPackages: true,
    listUnmatchedIds: () => ports.inbox.listUnmatchedIds(),
    confirmStarterLeft: () => Promise.resolve(true),
    writeResults: () => Promise.resolve(false),
  })
}

/** `request create`, by a user who knows whether two spellings are one person. */
export const createOneRequest: Action = async (world, { ports }) => {
  // `request create` sends nothing if the packages cannot be read or the package is not among them.
  const { offer } = world
  const packages = await readAndLinkPackages(ports)
  if (packages.every(({ id, status }) => id !== offer.id || status !== 'ACTIVE')) return
  const human = pickOne(world.everybody, world.rng)
  const recipient = human.spellings[pickSpellingIndex(world.rng)]!
  await createRequest(ports, createBody(recipient, offer), {
    allowDuplicate: false,
    waitBudgetMs: 600_000,
    onSimilar: async ({ order }) =>
      order.recipient !== undefined && world.findHumanOf({ recipient: order.recipient }) !== human,
  })
}

/** Stores events for a random part of the requests; calling it again may store an event twice. */
export const receiveSomeEvents: Action = (world, process) =>
  receiveEvents(world, process, () => world.rng() < 0.6)

export const receiveAllEvents: Action = (world, process) => receiveEvents(world, process, () => true)

async function receiveEvents(world: World, { ports }: Process, isReceived: () => boolean): Promise<void> {
  const events = world.sandbox
    .requests()
    .filter(isReceived)
    .map(({ request_id, status }) => ({
      receivedAt: ports.clock.now(),
      body: Buffer.from(JSON.stringify({ event: 'request.updated', request_id, status })),
      signature: '0'.repeat(64),
      requestId: request_id,
      status,
      event: 'request.updated',
      oddity: undefined,
    }))
  if (events.length > 0) await ports.inbox.add(events, false)
}

/** `batch reconcile`. */
export const reconcileAll: Action = async (_world, { ports }) => {
  await reconcileByEvidence(ports, { batchId: undefined, ids: undefined })
}

/** `batch retry`. */
export const retryOneBatch: Action = async ({ rng }, { ports }) => {
  const batches = await ports.batches.list()
  const batch = batches[Math.floor(rng() * batches.length)]
  if (batch !== undefined) await retryBatch(ports, batch, undefined)
}

/** `store purge --email`. */
export const purgeOnePerson: Action = async (world, { ports, store, steps }) => {
  const { spellings } = pickOne(world.everybody, world.rng)
  await steps.step('before purge')
  await store.maintenance.purge({ email: spellings[0]!.email }, { dryRun: false, completely: false })
  await ports.ledger.recover(ports.clock.now())
}

/** Replaces the package by one that requires an additional field. */
export const replacePackage: Action = async (world) => {
  if (world.offer.hasConsent) return
  world.offer = { id: world.sandbox.replacePackage(world.offer.id), hasConsent: true }
}

/** `batch move` of all batches of the replaced package, with the field that the new package requires. */
export const moveBatches: Action = async (world, { ports }) => {
  const { batches, heldRows, clock } = ports
  for (const { id, packageId } of await batches.list()) {
    if (packageId === undefined || packageId === world.offer.id) continue
    const lease = await batches.acquire(id)
    if (lease === undefined) continue
    const rows: MovableRow[] = []
    for (const row of await heldRows.readMovable(id)) {
      const recipient = row.recipient ?? world.everybody[0]!.spellings[0]!
      rows.push({ ...row, body: Buffer.from(JSON.stringify(createBody(recipient, world.offer))) })
    }
    await heldRows.moveRows(id, world.offer.id, rows, clock.now())
    await lease.release()
  }
}

/**
 * A user who asked the provider reconciles an unknown row: records the request id, orders again, or drops the
 * row.
 */
export const reconcileOneRow: Action = async (world, { ports }) => {
  const unknownRows = await ports.ledger.list({
    states: world.rng() < 0.8 ? ['unknown'] : ['unknown', 'dropped'],
  })
  if (unknownRows.length > 0) await reconcileRow(world, ports, pickOne(unknownRows, world.rng))
}

async function reconcileRow(
  world: World,
  ports: Process['ports'],
  { batchId, row, recipient, attemptId }: Pick<BatchRow, 'batchId' | 'row' | 'recipient' | 'attemptId'>,
): Promise<void> {
  const sentRequest = world.sandbox
    .requests()
    .find(({ request_id }) => world.attemptOfRequest.get(request_id) === attemptId)
  const reason = 'the provider said so'
  // For a row without a recipient, the user cannot decide which request belongs to it.
  if (sentRequest !== undefined && recipient !== undefined) {
    const answer = { kind: 'has', requestId: sentRequest.request_id } as const
    await reconcileByDecision(ports, { batchId, row, answer, reason })
    return
  }
  const isNeverOrdered =
    recipient !== undefined &&
    sentRequest === undefined &&
    world.rng() < 0.6 &&
    !world.sandbox
      .requests()
      .some((request) => world.findHumanOf(request) === world.findHumanOf({ recipient }))
  if (!isNeverOrdered) {
    await reconcileByDecision(ports, { batchId, row, answer: { kind: 'leave' }, reason })
    return
  }
  // A row may be ordered again 15 minutes after its attempt. An SQLite store measures them with the clock of the
  // machine, which may have been set back by 32 minutes since the attempt.
  await ports.clock.sleep(48 * 60_000)
  const answer = { kind: 'order', confirmedEmail: recipient.email } as const
  await reconcileByDecision(ports, { batchId, row, answer, reason })
}

export function pickSpellingIndex(rng: () => number): number {
  return rng() < 0.75 ? 0 : 1 + Math.floor(rng() * 3)
}

export function pickOne<T>(all: readonly T[], rng: () => number): T {
  return all[Math.floor(rng() * all.length)]!
}
