import { Crash } from './crash.ts'
import { bodyFor, rowFor } from './people.ts'
import { baseUrl, type PeopleFile, type Process, type World } from './world.ts'
import type { Batch, BatchRow } from '../../src/domain/batch/batch.ts'
import { fileIdentity } from '../../src/domain/batch/new-row.ts'
import { RefcheckError } from '../../src/errors/kinds.ts'
import type { Movable } from '../../src/store/ledger/held-rows.ts'
import { carryOut } from '../../src/usecases/batch/start.ts'
import { readAndLinkPackages } from '../../src/usecases/batch/packages.ts'
import { retryBatch } from '../../src/usecases/batch/change-batch.ts'
import { reconcileByEvidence, reconcileByDecision } from '../../src/usecases/batch/reconcile-batch.ts'
import { findToRun } from '../../src/usecases/batch/read-batch.ts'
import { createRequest } from '../../src/usecases/request/create.ts'

/** What a process is started for. */
export type Deed = (world: World, process: Process) => Promise<void>

/** Does it, and is killed on the way where its life says so. What the program refuses is an end like any other. */
export async function done(world: World, process: Process, deed: Deed): Promise<void> {
  try {
    await tried(world, process, deed)
  } finally {
    await world.free(process)
  }
}

export async function tried(world: World, process: Process, deed: Deed): Promise<void> {
  try {
    await deed(world, process)
  } catch (error) {
    const isExpected = process.life.isDead || error instanceof RefcheckError || error instanceof Crash
    if (!isExpected) throw error
  }
}

/** `batch run FILE`: the file is taken in, or the batch that it is already goes on. */
export const runFile =
  (file: PeopleFile): Deed =>
  async (world, { ports }) => {
    const { batches, clock, random } = ports
    const identity = fileIdentity({ account: '', baseUrl }, file.name, file.offer.id)
    const known = await batches.findByIdentity(identity)
    if (known !== undefined) return goOn(world, ports, known)
    await readAndLinkPackages(ports)
    const id = random.uuid()
    const rows = file.rows.map(({ human, spelling }, at) =>
      rowFor(at + 1, human.spellings[spelling] ?? human.spellings[0]!, file.offer),
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
    if (file.allowSimilar) world.allowing.add(id)
    const there = await batches.add(batch, rows)
    await send(ports, there?.id ?? id)
  }

/** `batch resume`. */
export const resume =
  (batchId: string): Deed =>
  async (world, { ports }) => {
    const batch = await ports.batches.find(batchId)
    if (batch !== undefined) await goOn(world, ports, batch)
  }

async function goOn(_world: World, ports: Process['ports'], batch: Batch): Promise<void> {
  await send(ports, (await findToRun(ports, batch.id)).id)
}

async function send(ports: Process['ports'], batchId: string): Promise<void> {
  await carryOut(ports, batchId, {
    max: Number.POSITIVE_INFINITY,
    waitBudgetMs: Number.POSITIVE_INFINITY,
    checksPackage: true,
    unclaimed: () => ports.inbox.unclaimed(),
    confirmStarterLeft: () => Promise.resolve(true),
    writeResults: () => Promise.resolve(false),
  })
}

/** `request create`, by a user who knows whether two spellings are one person. */
export const orderOne: Deed = async (world, { ports }) => {
  // `request create` orders nothing where the packages cannot be read, and no package that is not among them.
  const { offer } = world
  const packages = await readAndLinkPackages(ports)
  if (packages.every(({ id, status }) => id !== offer.id || status !== 'ACTIVE')) return
  const human = one(world.everybody, world.rng)
  const recipient = human.spellings[anySpelling(world.rng)]!
  await createRequest(ports, bodyFor(recipient, offer), {
    allowDuplicate: false,
    waitBudgetMs: 600_000,
    onSimilar: async ({ order }) =>
      order.recipient !== undefined && world.humanOf({ recipient: order.recipient }) !== human,
  })
}

/** Events of the service come in, some of them twice. */
export const receive: Deed = (world, process) => receiveSome(world, process, () => world.rng() < 0.6)

export const receiveAll: Deed = (world, process) => receiveSome(world, process, () => true)

async function receiveSome(world: World, { ports }: Process, comes: () => boolean): Promise<void> {
  const events = world.sandbox
    .requests()
    .filter(comes)
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
export const reconcileAll: Deed = async (_world, { ports }) => {
  await reconcileByEvidence(ports, { batchId: undefined, ids: undefined })
}

/** `batch retry`. */
export const retryOne: Deed = async ({ rng }, { ports }) => {
  const batches = await ports.batches.list()
  const batch = batches[Math.floor(rng() * batches.length)]
  if (batch !== undefined) await retryBatch(ports, batch, undefined)
}

/** `store purge --email`. */
export const purgeOne: Deed = async (world, { ports, store, life }) => {
  const { spellings } = one(world.everybody, world.rng)
  await life.step('before purge')
  await store.maintenance.purge({ email: spellings[0]!.email }, { dryRun: false, completely: false })
  await ports.ledger.recover(ports.clock.now())
}

/** The package is replaced by one that asks for more. */
export const replace: Deed = async (world) => {
  if (world.offer.hasConsent) return
  world.offer = { id: world.sandbox.replacePackage(world.offer.id), hasConsent: true }
}

/** `batch move` of what was begun under the package that is gone, with what the new one asks for filled in. */
export const moveAll: Deed = async (world, { ports }) => {
  const { batches, waiting, clock } = ports
  for (const { id, packageId } of await batches.list()) {
    if (packageId === undefined || packageId === world.offer.id) continue
    const lease = await batches.acquire(id)
    if (lease === undefined) continue
    const rows: Movable[] = []
    for (const row of await waiting.movable(id)) {
      const recipient = row.recipient ?? world.everybody[0]!.spellings[0]!
      rows.push({ ...row, body: Buffer.from(JSON.stringify(bodyFor(recipient, world.offer))) })
    }
    await waiting.move(id, world.offer.id, rows, clock.now())
    await lease.release()
  }
}

/** A user who asked the provider reconciles what is unknown: by its id, by a new order, or not at all. */
export const reconcileOne: Deed = async (world, { ports }) => {
  const unknown = await ports.ledger.list({
    states: world.rng() < 0.8 ? ['unknown'] : ['unknown', 'dropped'],
  })
  if (unknown.length > 0) await reconcileRow(world, ports, one(unknown, world.rng))
}

async function reconcileRow(
  world: World,
  ports: Process['ports'],
  { batchId, row, recipient, attemptId }: Pick<BatchRow, 'batchId' | 'row' | 'recipient' | 'attemptId'>,
): Promise<void> {
  const sent = world.sandbox.requests().find(({ request_id }) => world.sentBy.get(request_id) === attemptId)
  const reason = 'the provider said so'
  // Which request belongs to a person whose name is lost cannot be decided.
  if (sent !== undefined && recipient !== undefined) {
    const answer = { kind: 'has', requestId: sent.request_id } as const
    await reconcileByDecision(ports, { batchId, row, answer, reason })
    return
  }
  const isFree =
    recipient !== undefined &&
    sent === undefined &&
    world.rng() < 0.6 &&
    !world.sandbox.requests().some((request) => world.humanOf(request) === world.humanOf({ recipient }))
  if (!isFree) {
    await reconcileByDecision(ports, { batchId, row, answer: { kind: 'leave' }, reason })
    return
  }
  // A file goes by the clock of its machine, which may have been set back since.
  await ports.clock.sleep(48 * 60_000)
  const answer = { kind: 'order', confirmedEmail: recipient.email } as const
  await reconcileByDecision(ports, { batchId, row, answer, reason })
}

export function anySpelling(rng: () => number): number {
  return rng() < 0.75 ? 0 : 1 + Math.floor(rng() * 3)
}

export function one<T>(all: readonly T[], rng: () => number): T {
  return all[Math.floor(rng() * all.length)]!
}
