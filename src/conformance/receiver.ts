import { listen, type Listener } from '../server/listen.ts'

/** One event as it arrived. */
export interface Delivery {
  method: string
  contentType: string | null
  signature: string | null
  body: Buffer
  /** What it was answered with; null: nothing, the sender was left waiting. */
  answered: number | null
}

/** What the receiver says to the next deliveries, first to last; after them 204. */
export type Reply = number | 'nothing'

/** An endpoint for webhook events that keeps what comes, and misbehaves when asked to. */
export class Receiver {
  readonly deliveries: Delivery[] = []
  readonly #replies: Reply[] = []
  #listener: Listener | undefined

  /** Port 0: any free one. Throws IoError when the port cannot be had. */
  async open(port = 0): Promise<void> {
    this.#listener = await listen((request) => this.#take(request), { port })
  }

  get url(): string {
    return `${this.#listener?.url ?? ''}/`
  }

  /** Sets what the next deliveries are answered with. */
  reply(...replies: Reply[]): void {
    this.#replies.splice(0, Infinity, ...replies)
  }

  async close(): Promise<void> {
    await this.#listener?.close()
  }

  async #take(request: Request): Promise<Response> {
    const body = Buffer.from(await request.arrayBuffer())
    const reply = this.#replies.shift() ?? 204
    this.deliveries.push({
      method: request.method,
      contentType: request.headers.get('Content-Type'),
      signature: request.headers.get('X-Service-Signature'),
      body,
      answered: reply === 'nothing' ? null : reply,
    })
    return reply === 'nothing' ? new Promise(() => {}) : new Response(null, { status: reply })
  }
}
