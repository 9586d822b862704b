/** Returns a text with each character as a JSON escape. */
export const inUnicodeEscapes = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((hex) => `\\u${hex}`)
    .join('')

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const insertBetween = (text: string, inserted: string): string => Array.from(text).join(inserted)

const writeBytes = (text: string, write: (byte: number) => string): string =>
  Array.from(Buffer.from(text), write).join('')

const htmlEntities: Record<string, string> = {
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
}

/** The HTML 5 entity name of each ASCII punctuation character, as PHP's htmlentities writes it. */
const html5Names: Readonly<Record<string, string>> = Object.fromEntries(
  [
    '! excl " quot # num $ dollar % percnt & amp \' apos ( lpar ) rpar * ast + plus , comma . period / sol : colon',
    '; semi < lt = equals > gt ? quest @ commat [ lbrack \\ bsol ] rsqb ^ Hat _ lowbar ` grave { lbrace | vert } rcub',
  ].flatMap((line) => Array.from(line.matchAll(/(\S) (\S+)/g), ([, char, name]) => [char, name] as const)),
)

/** Encodings with which a service may repeat a text that it was sent. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  unchanged: (text) => text,
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
  HTML: (text) => text.replaceAll(/[&"<>']/g, (char) => htmlEntities[char] ?? char),
  'HTML 5': (text) =>
    text.replaceAll(/[!-/:-@[-`{-~]|fj/g, (char) =>
      char === 'fj' ? '&fjlig;' : html5Names[char] === undefined ? char : `&${html5Names[char]};`,
    ),
  'HTML entities by number, without semicolons': (text) =>
    Array.from(
      text,
      (char, at) =>
        `&#${at % 2 === 0 ? '' : 'x'}${(char.codePointAt(0) ?? 0).toString(at % 2 === 0 ? 10 : 16)}`,
    ).join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'hexadecimal in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'terminal sequences in it': (text) => insertBetween(text, '\u001B[1m'),
  'terminal sequences in JSON in it': (text) => text.replaceAll(/\w(?!$)/g, '$&\\u001b[1m'),
  'soft hyphens in it': (text) => insertBetween(text, '\u00AD'),
  'line breaks in it': (text) => insertBetween(text, '\r\n'),
  'base64 in lines': (text) => insertBetween(Buffer.from(text).toString('base64'), '\n'),
  'hidden characters in percent encoding in it': (text) => insertBetween(text, '%E2%80%8B%00%C2%AD'),
  'hidden characters as HTML entities in it': (text) => insertBetween(text, '&#8203;&shy;&#x200d;'),
  'hidden characters in escapes in it': (text) => insertBetween(text, String.raw`\x00\u{200b}`),
  'hexadecimal in mixed case': (text) =>
    Buffer.from(text)
      .toString('hex')
      .replace(/([a-f])(\d*)([a-f]?)/g, (_all, one: string, digits: string, other: string) =>
        [one.toUpperCase(), digits, other].join(''),
      ),
  'escapes of bytes': (text) => writeBytes(text, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`),
  'octal escapes': (text) => writeBytes(text, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'fullwidth forms': (text) =>
    text.replaceAll(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
  'base64 in percent encoding, with soft hyphens in it': (text) =>
    encodeURIComponent(insertBetween(Buffer.from(text).toString('base64'), '\u00AD')),
  'zero-width spaces, NUL and tags in it': (text) => insertBetween(text, '\u200B\u0000\u{E0041}'),
}
