import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One address in front of servers that take turns, as a virtual IP or a load balancer is after a failover. */
export class SwitchedPort implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number | undefined
  #cutsAt: string | undefined

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.#target = target
    server.on('connection', (client: Socket) => this.#join(client))
  }

  static async open(target: number): Promise<SwitchedPort> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new SwitchedPort(server, target)
  }

  /** Ends every connection; the next ones lead to `target`, or nowhere. */
  lead(target: number | undefined): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends the next connection on which a client says this, once, before the server has it. */
  cutAt(word: string): void {
    this.#cutsAt = word
  }

  async close(): Promise<void> {
    this.lead(undefined)
    this.#server.close()
    await once(this.#server, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #join(client: Socket): void {
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
    client.on('data', (bytes: Buffer) => {
      if (this.#cutsAt === undefined || !bytes.includes(this.#cutsAt)) {
        server.write(bytes)
        return
      }
      this.#cutsAt = undefined
      client.destroy()
    })
  }
}
