/**
 * A chunked body put together (RFC 9112, 7.1); undefined where it does not decode. Line ends may be LF
 * alone, as captures have them; extensions and trailers are passed over.
 */
export function decodeChunked(bytes: Uint8Array): Uint8Array | undefined {
  const pieces: Uint8Array[] = []
  let at = 0
  for (;;) {
    const feed = bytes.indexOf(0x0a, at)
    if (feed === -1 || feed - at > 1024) return undefined
    const head = Buffer.from(bytes.subarray(at, feed)).toString('latin1')
    const digits = /^([0-9a-fA-F]{1,7})[ \t]*(?:;.*)?\r?$/.exec(head)?.[1]
    if (digits === undefined) return undefined
    const size = Number.parseInt(digits, 16)
    if (size === 0) return Buffer.concat(pieces)
    const end = feed + 1 + size
    const lineEnd = head.endsWith('\r') ? [0x0d, 0x0a] : [0x0a]
    if (!lineEnd.every((byte, place) => bytes[end + place] === byte)) return undefined
    pieces.push(bytes.subarray(feed + 1, end))
    at = end + lineEnd.length
  }
}
