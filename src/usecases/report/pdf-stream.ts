import { createHash } from 'node:crypto'

import { endMark, headMark, notPdf, headerValue, tailBytes } from '../../domain/report/source.ts'
import type { HttpStream } from '../../http/types.ts'

export interface Received {
  bytes: number
  sha256: string
}

/**
 * The bytes of a report as they come, checked as they pass: content type, length, first and last
 * marks. Throws UnavailableError where it is not a whole PDF; `received` is set when it has ended well.
 */
export class PdfStream implements AsyncIterable<Uint8Array> {
  readonly #stream: HttpStream
  readonly #onBytes: ((bytes: number) => void) | undefined
  received: Received | undefined

  /** `onBytes` is called with the number of bytes, as they arrive. */
  constructor(stream: HttpStream, onBytes?: (bytes: number) => void) {
    this.#stream = stream
    this.#onBytes = onBytes
    const type = headerValue(stream.headers['content-type'])?.split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/pdf') {
      throw notPdf(`the answer is ${type === undefined ? 'of no type' : `"${type}"`}, not application/pdf`)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    let bytes = 0
    let head = Buffer.alloc(0)
    let tail = Buffer.alloc(0)
    for await (const chunk of this.#stream.body) {
      hash.update(chunk)
      bytes += chunk.byteLength
      this.#onBytes?.(chunk.byteLength)
      if (head.byteLength < headMark.length) {
        head = Buffer.concat([head, chunk.subarray(0, headMark.length - head.byteLength)])
        if (!headMark.startsWith(head.toString('latin1'))) {
          throw notPdf('it does not start like a PDF')
        }
      }
      tail =
        chunk.byteLength < tailBytes
          ? Buffer.concat([tail, chunk]).subarray(-tailBytes)
          : Buffer.from(chunk.subarray(-tailBytes))
      yield chunk
    }
    const promised = headerValue(this.#stream.headers['content-length'])
    if (promised !== undefined && Number(promised) !== bytes) {
      throw notPdf(`it is incomplete: ${bytes} of ${promised} bytes`)
    }
    if (head.byteLength < headMark.length || !tail.includes(endMark)) {
      throw notPdf('it is incomplete: the end mark of a PDF is missing')
    }
    this.received = { bytes, sha256: hash.digest('hex') }
  }
}
