import { type Human, rowFor } from './people.ts'
import { baseUrl, type World } from './world.ts'
import type { Submission } from '../../src/domain/submission/submission.ts'
import type { Store } from '../../src/store/ledger/store.ts'

export interface Verdict {
  twice: number
  lost: number
  orders: number
}

/**
 * By person, and by id: no person has two orders, every order of the service is known to the store, and no person who has one is
 * free to be ordered again.
 */
export async function judge(world: World): Promise<Verdict> {
  const { broken, sandbox, refused, harmed } = world
  const perHuman = new Map<Human, string[]>()
  for (const request of sandbox.requests()) {
    const human = world.humanOf(request)
    perHuman.set(human, [...(perHuman.get(human) ?? []), request.request_id])
  }
  const twice = [...perHuman].filter(([human, ids]) => ids.length > 1 && !world.excused.has(human))
  for (const [{ number }, ids] of twice)
    broken.push(`human ${number} was ordered ${ids.length} times: ${ids.join(', ')}`)
  const store = await world.open()
  const submissions = await store.ledger.list({})
  const lost = sandbox
    .requests()
    .filter(
      ({ request_id }) =>
        !world.elsewhere.has(request_id) &&
        !isKnown(world, submissions, request_id) &&
        !world.isUnknowable(world.sentBy.get(request_id)),
    )
  for (const { request_id } of lost) broken.push(`nobody knows of request ${request_id}`)
  wrongIds(world, submissions)
  const left = submissions.filter(({ state }) => state === 'pending' || state === 'sending')
  if (left.length > 0) broken.push(`${left.length} rows never came to an end`)
  const explained = world.kills + world.lostAnswers
  if (harmed.length === 0 && world.unknown > explained)
    broken.push(
      `${world.unknown} outcomes unknown after ${world.kills} kills and ${world.lostAnswers} lost answers`,
    )
  // A store in a file goes by the clock of its machine.
  const hasSoundClock = world.files.chosen !== undefined || world.happened['clocks set'] === 0
  if (harmed.length === 0 && hasSoundClock && refused > 0)
    broken.push(`the quota was passed ${refused} times`)
  await freeAgain(world, store, perHuman)
  await store.close()
  return { twice: twice.length, lost: lost.length, orders: sandbox.requests().length }
}

/** By its id, or by the attempt that made it, whose outcome is unknown. */
function isKnown({ sentBy }: World, submissions: readonly Submission[], requestId: string): boolean {
  const attemptId = sentBy.get(requestId)
  return submissions.some(
    (each) =>
      each.requestId === requestId ||
      (each.attemptId === attemptId && ['unknown', 'dropped', 'sending'].includes(each.state)),
  )
}

function wrongIds(world: World, submissions: readonly Submission[]): void {
  const there = new Map(world.sandbox.requests().map((request) => [request.request_id, request]))
  for (const { state, requestId, recipient, batchId, row } of submissions) {
    if (state !== 'accepted') continue
    const request = there.get(requestId ?? '')
    if (request === undefined) world.broken.push(`row ${row} of ${batchId}: an id that is not there`)
    else if (recipient !== undefined && world.humanOf(request) !== world.humanOf({ recipient }))
      world.broken.push(`row ${row} of ${batchId}: the id of somebody else’s order`)
  }
}

/** A file of all people is taken in by a new process: a person who has an order must not be free to get another. */
async function freeAgain(world: World, store: Store, perHuman: ReadonlyMap<Human, string[]>): Promise<void> {
  const rows = world.everybody.map(({ spellings }, at) => rowFor(at + 1, spellings[0]!, world.offer))
  const id = world.random.uuid()
  await store.batches.add(
    {
      id,
      addedAt: world.clock.now(),
      baseUrl,
      userEmail: world.sandbox.credentials.userEmail,
      identity: id,
      name: 'everybody.csv',
      sha256: '',
      packageId: world.offer.id,
      path: undefined,
      resultsFile: undefined,
      reading: '{}',
      allowDuplicate: false,
    },
    rows,
  )
  for await (const { row, state } of store.batches.rows(id)) {
    const human = world.everybody[row - 1]
    if (human !== undefined && state === 'pending' && isToBeKnown(world, perHuman.get(human)))
      world.broken.push(`human ${human.number} is ordered, and free to be ordered again`)
  }
}

/** Whether the store can know of any of these requests. */
function isToBeKnown(world: World, ids: readonly string[] = []): boolean {
  return ids.some((id) => !world.isUnknowable(world.sentBy.get(id)))
}
