import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { diskFailure, systemErrorCode, isAlreadyExists } from '../../disk/failure.ts'
import { flushFolder } from '../../disk/folders.ts'
import { makeOwnFolders, readPrivate, requireOwnFolders } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'
import {
  type OrderPlan,
  parseOrderPlan,
  parseUsedPlan,
  planFileText,
  planLifetimeMs,
  type UsedPlan,
} from '../../domain/approval/order-plan.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'

/**
 * Plans that wait for approval, each in a private file in the folder `plans` of the data folder: a plan may contain
 * the path of a file on this machine.
 */
export interface OrderPlans {
  /** Stores a plan. Returns false if its code is in use. */
  add(plan: OrderPlan): Promise<boolean>
  /** Returns the plan with a code, waiting or used. Throws InvalidInputError if the plan was changed. */
  find(code: string): Promise<OrderPlan | UsedPlan | undefined>
  /** Returns the codes of the plans that wait, in alphabetical order. */
  listWaiting(): Promise<string[]>
  /** Claims a plan, so that only one process uses it. Returns undefined if another process has claimed it. */
  claim(code: string, now: number): Promise<UsedPlan | undefined>
  /** Records the result of a claimed plan. */
  record(used: UsedPlan): Promise<void>
  /** Removes a plan that waits, so that it cannot be approved any more. */
  remove(code: string): Promise<void>
  /** Removes plans that have expired, and plans that were used long ago. */
  removeExpired(now: number): Promise<void>
}

export interface OrderPlansOptions {
  paths: Paths
  random: Random
}

const maxBytes = 32 * 1024 * 1024
const waitingPlanName = /^([A-Z]{4}-[A-Z]{4})\.json$/
const anyPlanName = /^[A-Z]{4}-[A-Z]{4}\.(json|used)$/
const timeField = /"(expires_at|used_at)":"([^"]*)"/
/** How long the result of a used plan is kept; it is normally read within days. */
const usedPlanLifetimeMs = 7 * planLifetimeMs

/** Returns the plans without reading or making the folder yet. */
export function openOrderPlans({ paths, random }: OrderPlansOptions): OrderPlans {
  const folder = join(paths.data, 'plans')
  const waitingPath = (code: string): string => join(folder, `${code}.json`)
  const usedPath = (code: string): string => join(folder, `${code}.used`)
  const listNames = async (): Promise<string[]> => {
    requireOwnFolders(paths.data, folder)
    return readdir(folder).catch((error: unknown) => {
      if (systemErrorCode(error) === 'ENOENT') return []
      throw diskFailure('read the folder', folder, error)
    })
  }
  const findUsed = async (code: string): Promise<UsedPlan | undefined> => {
    const file = await readPrivate(usedPath(code), maxBytes, paths.data)
    if (file === undefined) return undefined
    // If the process ended right after the claim, the file still contains the plan.
    return parseUsedPlan(file.text) ?? createUsedPlan(code, Date.parse(creationTimeIn(file.text)))
  }
  return {
    async add(plan) {
      makeOwnFolders(paths.data, folder)
      if ((await findUsed(plan.code)) !== undefined) return false
      try {
        await writeFileAtomically(waitingPath(plan.code), planFileText(plan), { random, overwrite: false })
        return true
      } catch (error) {
        if (isAlreadyExists(error)) return false
        throw error
      }
    },
    async find(code) {
      const file = await readPrivate(waitingPath(code), maxBytes, paths.data)
      return file === undefined ? findUsed(code) : parseOrderPlan(file.text, code)
    },
    listWaiting: async () =>
      (await listNames()).flatMap((name) => waitingPlanName.exec(name)?.[1] ?? []).sort(),
    async claim(code, now) {
      try {
        await rename(waitingPath(code), usedPath(code))
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return undefined
        throw diskFailure('rename', waitingPath(code), error)
      }
      await flushFolder(folder)
      const claimed = createUsedPlan(code, now)
      // This replaces the plan, so that no personal data remains in the file.
      await writeFileAtomically(usedPath(code), JSON.stringify(claimed), { random })
      return claimed
    },
    record: async (recorded) =>
      writeFileAtomically(usedPath(recorded.code), JSON.stringify(recorded), { random }),
    async remove(code) {
      await rm(waitingPath(code), { force: true })
      await flushFolder(folder)
    },
    async removeExpired(now) {
      for (const name of (await listNames()).filter((each) => anyPlanName.test(each))) {
        const path = join(folder, name)
        const text = (await readPrivate(path, maxBytes, paths.data).catch(() => undefined))?.text ?? ''
        const [, fieldName, timeText] = timeField.exec(text) ?? []
        const lifetimeMs = fieldName === 'expires_at' ? planLifetimeMs : usedPlanLifetimeMs
        if (timeText !== undefined && now > Date.parse(timeText) + lifetimeMs) await rm(path, { force: true })
      }
    },
  }
}

function createUsedPlan(code: string, at: number): UsedPlan {
  const used_at = new Date(Number.isNaN(at) ? 0 : at).toISOString()
  return { refcheck_used_plan: 1, code, used_at, request_id: null, batch_id: null }
}

/** Returns the time of a plan whose approval was interrupted between two writes. */
function creationTimeIn(text: string): string {
  return /"made_at":"([^"]*)"/.exec(text)?.[1] ?? ''
}
