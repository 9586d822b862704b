import { lstatSync } from 'node:fs'
import { connect } from 'node:net'

import { claim, type ClaimOptions } from '../../disk/lock.ts'
import { IoError } from '../../errors/kinds.ts'

/**
 * Makes this process the only one with a sandbox's data, until it lets go or dies. Throws IoError where another
 * sandbox has it, and says which process that is.
 */
export async function claimData(path: string, options: Omit<ClaimOptions, 'waitMs'>): Promise<() => void> {
  if (await olderSandboxAnswers(`${path}.lock`)) throw inUse(path, '')
  const claimed = await claim(`${path}.claim`, { ...options, waitMs: 0 })
  if (claimed.held) return () => claimed.release()
  throw inUse(path, claimed.holder === undefined ? '' : ` (process ${claimed.holder.pid})`)
}

function inUse(path: string, who: string): IoError {
  return new IoError(`${path} is in use by another sandbox${who}`, {
    hint: 'Stop that one first, or choose another file.',
  })
}

/** 0.1.0 held its data by a local socket of this name, which a killed one leaves behind with nobody to answer. */
function olderSandboxAnswers(address: string): Promise<boolean> {
  if (lstatSync(address, { throwIfNoEntry: false })?.isSocket() !== true) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
