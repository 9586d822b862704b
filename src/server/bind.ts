import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { IoError } from '../errors/kinds.ts'

/** Starts listening; the port that it is. Throws IoError when it cannot be had. */
export function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindFailure(error, host, port))
    server.once('error', onError)
    server.listen(port, host, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function bindFailure(error: NodeJS.ErrnoException, host: string, port: number): IoError {
  const where = `${host}:${port}`
  if (error.code === 'EADDRINUSE') {
    return new IoError(`port ${port} on ${host} is used by another program`, {
      hint: 'Choose another port, or 0 for any free one.',
      cause: error,
    })
  }
  if (error.code === 'EACCES') {
    return new IoError(`not allowed to listen on ${where}`, {
      hint: 'Ports below 1024 need special rights. Choose a higher one, or 0 for any free one.',
      cause: error,
    })
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new IoError(`"${host}" is not an address of this machine`, {
      hint: 'Use 127.0.0.1, ::1 or another address of this machine.',
      cause: error,
    })
  }
  return new IoError(`cannot listen on ${where}: ${error.message}`, { cause: error })
}
