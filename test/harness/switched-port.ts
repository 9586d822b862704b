import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Cuts a connection when a client of PostgreSQL commits. */
export interface Cut {
  /** Text that a statement of the transaction contains; by default every transaction matches. */
  statement?: string
  /** Whether the server receives the COMMIT, so that only the answer to it is lost. */
  isReceived: boolean
}

/**
 * One address in front of a server that can be replaced, as a virtual IP or a load balancer in a failover.
 */
export class SwitchedPort implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number | undefined
  #cut: Cut | undefined
  /** Delay of each COMMIT before it reaches the server, in ms. */
  commitDelayMs = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.#target = target
    server.on('connection', (client: Socket) => this.#forward(client))
  }

  static async open(target: number): Promise<SwitchedPort> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new SwitchedPort(server, target)
  }

  /** Ends every connection. The next ones connect to the port `target`; without it they are refused. */
  connectTo(target: number | undefined): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts the next connection that matches `cut`, once. */
  cutAtCommit(cut: Cut): void {
    this.#cut = cut
  }

  async close(): Promise<void> {
    this.connectTo(undefined)
    this.#server.close()
    await once(this.#server, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #forward(client: Socket): void {
    if (this.#target === undefined) {
      client.destroy()
      return
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
    server.pipe(client)
    client.on('end', () => server.end())
    const transaction = new TransactionStatements()
    client.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1')
      const cut = transaction.isCutAt(text, this.#cut) ? this.#cut : undefined
      if (cut === undefined && this.commitDelayMs > 0 && text.includes('COMMIT')) {
        setTimeout(() => server.write(bytes), this.commitDelayMs)
        return
      }
      if (cut === undefined || cut.isReceived) server.write(bytes)
      if (cut === undefined) return
      this.#cut = undefined
      server.unpipe(client)
      if (cut.isReceived) server.once('data', () => client.destroy()).resume()
      else client.destroy()
    })
  }
}

/** The statements that a client of PostgreSQL has executed since its last COMMIT. */
class TransactionStatements {
  readonly #prepared = new Map<string, string>()
  #statements: string[] = []

  /** Adds the statements that `text` executes. Returns whether it commits a transaction that `cut` matches. */
  isCutAt(text: string, cut: Cut | undefined): boolean {
    for (const [, name = '', statement = ''] of text.matchAll(/P[^]{4}(s\d+)\0([^\0]*)\0/g))
      this.#prepared.set(name, statement)
    for (const [, name = ''] of text.matchAll(/B[^]{4}\0(s\d+)\0/g))
      this.#statements.push(this.#prepared.get(name) ?? '')
    if (!text.includes('COMMIT')) return false
    const statements = this.#statements.join('\n')
    this.#statements = []
    return cut !== undefined && statements.includes(cut.statement ?? '')
  }
}
