/** Every character of a text as a JSON escape. */
export const inUnicodeEscapes = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((hex) => `\\u${hex}`)
    .join('')

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const between = (text: string, hidden: string): string => Array.from(text).join(hidden)

const html: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;', "'": '&#39;' }

/** How a service may write in its texts what it was sent. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  JSON: inJson,
  'JSON of PHP': (text) => inJson(text).replaceAll('/', '\\/').replaceAll('é', '\\u00e9'),
  'JSON in JSON': (text) => inJson(inJson(text)),
  'JSON escapes': inUnicodeEscapes,
  'JSON escapes in capitals': (text) =>
    inUnicodeEscapes(text).replaceAll(/(?<=\\u)\w{4}/g, (hex) => hex.toUpperCase()),
  'percent encoding': encodeURIComponent,
  'percent encoding in small letters': (text) =>
    encodeURIComponent(text).replaceAll(/%../g, (each) => each.toLowerCase()),
  'percent encoding twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'every byte in percent encoding': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join(''),
  'a form': (text) => new URLSearchParams({ text }).toString().slice('text='.length),
  'a form, decoded': (text) => text.replaceAll('+', ' '),
  CSV: (text) => text.replaceAll('"', '""'),
  HTML: (text) => text.replaceAll(/[&"<>']/g, (char) => html[char] ?? char),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'hexadecimal in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'terminal sequences in it': (text) => between(text, '\u001B[1m'),
  'terminal sequences in JSON in it': (text) => text.replaceAll(/\w(?!$)/g, '$&\\u001b[1m'),
  'soft hyphens in it': (text) => between(text, '\u00AD'),
  'line breaks in it': (text) => between(text, '\r\n'),
  'base64 in lines': (text) => between(Buffer.from(text).toString('base64'), '\n'),
  'zero-width spaces, NUL and tags in it': (text) => between(text, '\u200B\u0000\u{E0041}'),
}
