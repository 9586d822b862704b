import type { Completion, ValueSource } from '../../domain/completion/wanted.ts'
import { personOf } from '../../domain/submission/duplicate.ts'
import { personName } from '../../domain/wording/text.ts'
import { localTime } from '../../domain/wording/time.ts'
import type { Profile } from '../../domain/session/session.ts'
import type { Store } from '../../store/ledger/store.ts'

/**
 * Sources of the values for completion, by kind. Only the source of the kind that is being completed is
 * called.
 */
export interface ValueSources {
  packages: () => Promise<ReadonlyMap<number, string>>
  profiles: () => Promise<ReadonlyMap<string, Profile>>
  /** Undefined if there is no store: completion does not create one. */
  store: () => Promise<Pick<Store, 'batches' | 'ledger' | 'inbox'> | undefined>
  mappings: () => Promise<readonly string[]>
  settings: () => readonly Completion[]
  plans: () => Promise<readonly string[]>
  commands: () => readonly Completion[]
  /** The stories that `refcheck sandbox trigger` plays. */
  sandboxStories: () => Promise<readonly Completion[]>
}

/** Maximum number of values: a user does not read more of them in a list. */
const maxValues = 50

/** Returns the values of one kind that start with the typed text; values with a time are listed newest first. */
export async function findValues(
  kind: ValueSource,
  sources: ValueSources,
  current: string,
): Promise<Completion[]> {
  const allValues = await readValues(kind, sources)
  return allValues.filter(({ value }) => value.startsWith(current)).slice(0, maxValues)
}

async function readValues(kind: ValueSource, sources: ValueSources): Promise<readonly Completion[]> {
  const withoutDescription = (values: readonly string[]): Completion[] =>
    values.map((value) => ({ value, description: '' }))
  switch (kind) {
    case 'package':
      return [...(await sources.packages())].map(([id, name]) => ({ value: String(id), description: name }))
    case 'profile':
      return [...(await sources.profiles())].map(([name, { userEmail, baseUrl }]) => ({
        value: name,
        description: `${userEmail} at ${baseUrl}`,
      }))
    case 'batch':
      return completeBatches(sources)
    case 'request':
      return completeRequests(sources)
    case 'event':
      return completeEvents(sources)
    case 'mapping':
      return withoutDescription(await sources.mappings())
    case 'setting':
      return sources.settings()
    case 'plan':
      return withoutDescription(await sources.plans())
    case 'command':
      return sources.commands()
    case 'story':
      return sources.sandboxStories()
  }
}

async function completeBatches({ store }: ValueSources): Promise<Completion[]> {
  const batches = (await (await store())?.batches.list()) ?? []
  return batches
    .toSorted((one, other) => other.addedAt - one.addedAt)
    .map(({ id, name, addedAt }) => ({
      value: id,
      description: `${name ?? ''} ${localTime(addedAt)}`.trim(),
    }))
}

async function completeRequests({ store }: ValueSources): Promise<Completion[]> {
  const orders = (await (await store())?.ledger.list({ states: ['accepted'] })) ?? []
  return orders.toReversed().flatMap((row) => {
    const { requestId, requestStatus, recipient } = row
    if (requestId === undefined) return []
    // A shell cuts long descriptions, so the e-mail comes last.
    const person = recipient === undefined ? [personOf(row)] : [personName(recipient)]
    const parts = [...person, requestStatus, recipient?.email].filter((part) => part !== undefined)
    return [{ value: requestId, description: parts.join(', ') }]
  })
}

async function completeEvents({ store }: ValueSources): Promise<Completion[]> {
  const inbox = (await store())?.inbox
  const found: Completion[] = []
  if (inbox === undefined) return found
  for await (const { id, status = '', receivedAt } of inbox.list()) {
    found.push({ value: String(id), description: `${status} ${localTime(receivedAt)}`.trim() })
  }
  return found.toReversed()
}
