import { existsSync } from 'node:fs'

import { once, type Scope } from '../cli/scope.ts'
import { variable } from '../host/env.ts'
import { requireNoPassword } from '../domain/store/moving.ts'
import type { Migrated } from '../domain/store/told.ts'
import type { Batch } from '../domain/batch/batch.ts'
import { statusOf } from '../domain/batch/standing.ts'
import type { View } from '../output/view.ts'
import type { Inbox } from '../store/ledger/inbox.ts'
import type { Store, StoreOptions } from '../store/ledger/store.ts'
import { findBatch, stoppedRows } from '../usecases/batch/read-batch.ts'
import { learnSecrets, setting } from './session.ts'

/** Counting keeps nobody waiting whose answer is out. */
const busyMsAtTheEnd = 250
const hastyMs = 300
/** All answers together. */
const hastyWholeMs = 1_000

/** Orders, events and the quota, all in one place. */
export const store = once(usual)

/** The same store for another scope, such as a profile's own. */
export const shareStore = (from: Scope, to: Scope): void => to.share(from, usual)

function usual(scope: Scope): Promise<Store> {
  return opened(scope)
}

/**
 * The same for who is typing: nothing is waited for that takes longer than a person notices. Undefined where there is no
 * store yet, or nobody tells where it is.
 */
export async function hastyStore(scope: Scope): Promise<Store | undefined> {
  const { storePlace } = await import('../store/ledger/store.ts')
  const { paths, context } = scope
  const place = storePlace({ chosen: await chosenStore(scope), paths, cwd: context.cwd })
  if (place.kind === 'file' && !existsSync(place.path)) return undefined
  if (place.kind === 'postgres') {
    const { isNameAnswered } = await import('../host/name-servers.ts')
    if (!(await isNameAnswered(place.server.host, hastyMs))) return undefined
  }
  return opened(scope, { busyMs: hastyMs, answerMs: hastyMs, wholeMs: hastyWholeMs, patienceMs: 0 })
}

async function opened(
  scope: Scope,
  limits?: Pick<StoreOptions, 'busyMs' | 'answerMs' | 'wholeMs' | 'patienceMs'>,
): Promise<Store> {
  const { openStore } = await import('../store/ledger/open.ts')
  const { paths, note: onNotice } = scope
  const { clock, random, cwd, env } = scope.context
  const busyMs = scope.isClosing ? busyMsAtTheEnd : undefined
  const made = await openStore({
    chosen: await chosenStore(scope),
    paths,
    cwd,
    clock,
    random,
    env,
    secrets: scope.secrets,
    busyMs,
    onNotice,
    ...limits,
  })
  scope.onClose(() => made.close())
  if (made.maintenance.hasFilesToErase && limits === undefined) {
    const { eraseLeftFiles } = await import('./written-files.ts')
    await eraseLeftFiles(scope, made.maintenance)
  }
  return made
}

/** Brings it to the newest format; a file is made where there is none. */
export async function migratedStore(scope: Scope): Promise<Migrated> {
  const { migrateStore } = await import('../store/ledger/open.ts')
  const { clock, random, cwd, env } = scope.context
  const { paths, note: onNotice, secrets } = scope
  return migrateStore({ chosen: await chosenStore(scope), paths, cwd, clock, random, env, secrets, onNotice })
}

/** Two places, and what moving a store from one to the other needs; nothing is made yet. */
export async function storeToMove(scope: Scope, from: string, to: string) {
  const { openFormerStore, openNewStore } = await import('../store/ledger/open.ts')
  const { storeLocation, storePlace } = await import('../store/ledger/store.ts')
  const { clock, random, cwd, env } = scope.context
  const { paths, note: onNotice, secrets } = scope
  const optionsOf = (name: string, chosen: string) => {
    requireNoPassword(name, chosen)
    return { chosen, paths, cwd, clock, random, env, secrets, onNotice, patienceMs: 0 }
  }
  const [source, target] = [optionsOf('FROM', from), optionsOf('TO', to)]
  const kept = <Made extends Store>(made: Made): Made => {
    scope.onClose(() => made.close())
    return made
  }
  return {
    to: storeLocation(target),
    from: kept(await openFormerStore(source)),
    address: storePlace(target).kind === 'file' ? undefined : to,
    openTo: async () => kept(await openNewStore(target)),
    clock,
    random,
  }
}

/** REFCHECK_STORE, else the setting `store`. */
export async function chosenStore(scope: Scope): Promise<string | undefined> {
  return variable(scope.context.env, 'REFCHECK_STORE') ?? (await setting(scope, 'store'))
}

/**
 * The inbox of a command that shows events. Their bodies are kept as they were signed, whatever they hold; what is
 * shown of them is redacted.
 */
export async function inboxToShow(scope: Scope): Promise<Inbox> {
  await learnSecrets(scope)
  return (await store(scope)).inbox
}

/** What reading and moving batches needs. */
export async function storedBatches(scope: Scope) {
  const { ledger, batches, waiting } = await store(scope)
  return { ledger, batches, waiting, clock: scope.context.clock }
}

/** The whole id of a batch that was named by its id or the start of it; undefined for none. */
export async function batchIdOf(scope: Scope, named: string | undefined): Promise<string | undefined> {
  return named === undefined ? undefined : (await findBatch(await storedBatches(scope), named)).id
}

/** Where a batch stands, with its results file where there is one; for scripts with what each row that was not sent matches. */
export async function standingView(scope: Scope, batch: Batch, isJson: boolean): Promise<View> {
  const { batchStatusView } = await import('../output/views/batches.ts')
  const resultsFile = existsSync(batch.resultsFile ?? '') ? batch.resultsFile : undefined
  const place = { cwd: scope.context.cwd, stdin: scope.context.streams.stdin }
  const stopped = isJson ? await stoppedRows({ batches: (await store(scope)).batches, place }, batch) : []
  return batchStatusView(statusOf({ ...batch, resultsFile }), stopped)
}
