import type { HttpClient } from '../../src/http/client.ts'
import { TransportError } from '../../src/http/failure.ts'
import type { HttpRequest, HttpResponse } from '../../src/http/types.ts'
import type { Sandbox } from '../../src/sandbox/control/embedded.ts'

/** Faults before the service receives a byte; the sandbox makes all others. */
export interface ConnectionFaults {
  /** Whether the next connection can be established. */
  connects(): boolean
}

/** An HTTP client that calls the sandbox without sockets, with the results and errors of a real one. */
export function simulatedHttpClient(sandbox: Sandbox, faults: ConnectionFaults): HttpClient {
  const exchange = async (request: HttpRequest): Promise<HttpResponse> => {
    if (!faults.connects()) {
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
  const unused = (): never => {
    throw new Error('the simulation downloads nothing')
  }
  // Only these three are called; the class has private parts that a literal cannot have.
  const wire: Pick<HttpClient, 'send' | 'sendOnce' | 'open'> = {
    send: exchange,
    sendOnce: exchange,
    open: unused,
  }
  return wire as HttpClient
}
