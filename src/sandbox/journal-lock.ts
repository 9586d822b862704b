import { rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'

import { IoError } from '../errors/io.ts'

/** What every system takes as the path of a socket, in bytes. */
const longestAddress = 100

/**
 * Makes this process the only one with the file, until it lets go or dies. A local socket beside
 * the file is the lock: the system closes it with the process, SIGKILL included, and nobody answers
 * at a stale one. Throws IoError where another sandbox has the file.
 */
export async function holdAlone(path: string): Promise<() => void> {
  const address = `${path}.lock`
  if (Buffer.byteLength(address) > longestAddress) {
    throw new IoError(`${path} is too long a path for the data of a sandbox`, {
      hint: `Choose one of at most ${longestAddress - '.lock'.length} bytes.`,
    })
  }
  const server =
    (await tryListen(address)) ?? ((await answers(address)) ? undefined : await takeOver(address))
  if (server === undefined) {
    throw new IoError(`${path} is in use by another sandbox`, {
      hint: 'Stop that one first, or choose another file.',
    })
  }
  server.unref()
  return () => void server.close()
}

function tryListen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(cannotLock(address, error))
    })
    server.listen(address, () => resolve(server))
  })
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function takeOver(address: string): Promise<Server | undefined> {
  rmSync(address, { force: true })
  return tryListen(address)
}

function cannotLock(address: string, cause: Error): IoError {
  return new IoError(`the sandbox's data cannot be locked: ${cause.message}`, {
    hint: `Choose a file in a folder that exists and that you may write to; ${address} is made there.`,
    cause,
  })
}
