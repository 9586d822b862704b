/** A delivery of a MiB, the largest there is, in pieces of ten bytes. */
const mostChunks = 100_000

/**
 * A chunked body put together (RFC 9112, 7.1); undefined where it does not decode. Line ends may be LF
 * alone, as captures have them; extensions and trailers are passed over.
 */
export function decodeChunked(bytes: Uint8Array): Uint8Array | undefined {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const body = Buffer.alloc(all.byteLength)
  let filled = 0
  let at = 0
  for (let chunks = 0; chunks <= mostChunks; chunks += 1) {
    const feed = all.indexOf(0x0a, at)
    if (feed === -1 || feed - at > 1024) return undefined
    const head = all.toString('latin1', at, feed)
    const digits = /^([0-9a-fA-F]{1,7})[ \t]*(?:;.*)?\r?$/.exec(head)?.[1]
    if (digits === undefined) return undefined
    const size = Number.parseInt(digits, 16)
    if (size === 0) return body.subarray(0, filled)
    const end = feed + 1 + size
    const lineEnd = head.endsWith('\r') ? '\r\n' : '\n'
    if (all.toString('latin1', end, end + lineEnd.length) !== lineEnd) return undefined
    filled += all.copy(body, filled, feed + 1, end)
    at = end + lineEnd.length
  }
  return undefined
}
