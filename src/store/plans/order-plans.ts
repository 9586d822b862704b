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

/** Plans that wait for a person, a private file each in the data folder's `plans`: a file's path is this machine's. */
export interface OrderPlans {
  /** False where that code is in use. */
  add(plan: OrderPlan): Promise<boolean>
  /** What waits or was used under a code; an InvalidInputError where it is not what was planned. */
  find(code: string): Promise<OrderPlan | UsedPlan | undefined>
  /** Codes of what waits, in the order of the alphabet. */
  waiting(): Promise<string[]>
  /** Takes a plan for oneself, once for all processes; undefined where another was first. */
  claim(code: string, now: number): Promise<UsedPlan | undefined>
  /** What came of a claimed plan. */
  record(used: UsedPlan): Promise<void>
  /** Removes a plan that waits, so that it cannot be approved. */
  drop(code: string): Promise<void>
  /** Removes plans that have expired, or were approved long ago. */
  sweep(now: number): Promise<void>
}

export interface OrderPlansOptions {
  paths: Paths
  random: Random
}

const maxBytes = 32 * 1024 * 1024
const waitingName = /^([A-Z]{4}-[A-Z]{4})\.json$/
const knownName = /^[A-Z]{4}-[A-Z]{4}\.(json|used)$/
const lastTime = /"(expires_at|used_at)":"([^"]*)"/
/** The result of a plan is asked for within days. */
const usedPlanLifetimeMs = 7 * planLifetimeMs

/** Touches nothing yet. */
export function openOrderPlans({ paths, random }: OrderPlansOptions): OrderPlans {
  const folder = join(paths.data, 'plans')
  const waitingPath = (code: string): string => join(folder, `${code}.json`)
  const usedPath = (code: string): string => join(folder, `${code}.used`)
  const names = async (): Promise<string[]> => {
    requireOwnFolders(paths.data, folder)
    return readdir(folder).catch((error: unknown) => {
      if (systemErrorCode(error) === 'ENOENT') return []
      throw diskFailure('read the folder', folder, error)
    })
  }
  const usedOf = async (code: string): Promise<UsedPlan | undefined> => {
    const file = await readPrivate(usedPath(code), maxBytes, paths.data)
    if (file === undefined) return undefined
    // One that was claimed and never settled still is the plan itself.
    return parseUsedPlan(file.text) ?? used(code, Date.parse(claimedAt(file.text)))
  }
  return {
    async add(plan) {
      makeOwnFolders(paths.data, folder)
      if ((await usedOf(plan.code)) !== undefined) return false
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
      return file === undefined ? usedOf(code) : parseOrderPlan(file.text, code)
    },
    waiting: async () => (await names()).flatMap((name) => waitingName.exec(name)?.[1] ?? []).sort(),
    async claim(code, now) {
      try {
        await rename(waitingPath(code), usedPath(code))
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return undefined
        throw diskFailure('rename', waitingPath(code), error)
      }
      await flushFolder(folder)
      const claimed = used(code, now)
      // Nothing of the person stays in it.
      await writeFileAtomically(usedPath(code), JSON.stringify(claimed), { random })
      return claimed
    },
    record: async (recorded) =>
      writeFileAtomically(usedPath(recorded.code), JSON.stringify(recorded), { random }),
    async drop(code) {
      await rm(waitingPath(code), { force: true })
      await flushFolder(folder)
    },
    async sweep(now) {
      for (const name of (await names()).filter((each) => knownName.test(each))) {
        const path = join(folder, name)
        const text = (await readPrivate(path, maxBytes, paths.data).catch(() => undefined))?.text ?? ''
        const [, made, since] = lastTime.exec(text) ?? []
        const lifetimeMs = made === 'expires_at' ? planLifetimeMs : usedPlanLifetimeMs
        if (since !== undefined && now > Date.parse(since) + lifetimeMs) await rm(path, { force: true })
      }
    },
  }
}

function used(code: string, at: number): UsedPlan {
  const used_at = new Date(Number.isNaN(at) ? 0 : at).toISOString()
  return { refcheck_used_plan: 1, code, used_at, request_id: null, batch_id: null }
}

/** The time of a plan whose approval was cut short between two writes. */
function claimedAt(text: string): string {
  return /"made_at":"([^"]*)"/.exec(text)?.[1] ?? ''
}
