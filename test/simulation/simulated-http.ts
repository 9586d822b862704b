import type { HttpClient } from '../../src/http/client.ts'
import { TransportError } from '../../src/http/failure.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/types.ts'
import type { Sandbox } from '../../src/sandbox/control/embedded.ts'

/** Faults before the service receives a byte; the sandbox injects all other faults. */
export interface ConnectionFaults {
  /** Whether the next connection can be established. */
  canConnect(): boolean
}

/** An HTTP client that calls the sandbox without sockets, with the results and errors of a real one. */
export function simulatedHttpClient(sandbox: Sandbox, faults: ConnectionFaults): HttpClient {
  const sendToSandbox = async (request: HttpRequest): Promise<HttpResponse> => {
    if (!faults.canConnect()) {
      throw new TransportError('connection refused', { sent: false, hint: '' })
    }
    const { method, url, headers = {}, body } = request
    let answer: Response
    try {
      answer = await sandbox.fetch(
        new Request(url, {
          method,
          headers: headers as Record<string, string>,
          body: body === undefined ? null : Buffer.from(body),
        }),
      )
    } catch (cause) {
      throw new TransportError('the connection was cut', { sent: true, hint: '', cause })
    }
    const bytes = Buffer.from(await answer.arrayBuffer())
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: bytes,
      milliseconds: 1,
    }
  }
  const rejectDownload = (): never => {
    throw new Error('the simulation downloads nothing')
  }
  // The simulation calls only these three methods. An object literal cannot have the private fields of the class.
  const client: Pick<HttpClient, 'send' | 'sendOnce' | 'open'> = {
    send: sendToSandbox,
    sendOnce: sendToSandbox,
    open: rejectDownload,
  }
  return client as HttpClient
}
