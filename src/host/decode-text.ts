/** A place that a pass changed: `at` and `length` in its result, `from` and `to` in what it read. */
export interface Edit {
  at: number
  length: number
  from: number
  to: number
}

/**
 * What a reader does not see within a word: terminal sequences, control and format characters, line breaks, and U+FFFD, which is
 * printed in their place.
 */
const hidden = new RegExp(
  [
    String.raw`\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\\]*(?:\u0007|\u001B\\)|[()][A-Z\d])`,
    String.raw`\u009B[0-?]*[ -/]*[@-~]`,
    // Cc, Cf and Default_Ignorable_Code_Point as ranges: with \p the pattern takes ten times as long to make at each start.
    String.raw`[\0-\x1F\x7F-\x9F\xAD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFD\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]+`,
  ].join('|'),
  'gu',
)

/** Forms of ASCII characters that NFKC replaces: superscript, circled, mathematical and fullwidth ones, and spaces. */
const compatible = String.raw`[\xA0\xAA\xB2\xB3\xB9\xBA\u02B0-\u02B8\u2000-\u200A\u202F\u205F\u2070-\u209C\u2100-\u214F\u2460-\u24FF\u3000\uFE50-\uFE6B\uFF01-\uFF5E\u{1D400}-\u{1D7FF}\u{1F100}-\u{1F149}\u{1FBF0}-\u{1FBF9}]`
/** One character in percent encoding (the bytes of UTF-8), in an escape of JSON, JavaScript, C or Python, or as an HTML entity. */
const encodedCharacter = new RegExp(
  [
    String.raw`%(?:[C-Fc-f][\dA-Fa-f](?:%[89ABab][\dA-Fa-f]){1,3}|[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})`,
    String.raw`\\{1,8}(?:u[\dA-Fa-f]{4}|u\{0{0,8}[\dA-Fa-f]{1,6}\}|U[\dA-Fa-f]{8}|x[C-Fc-f][\dA-Fa-f](?:\\{1,8}x[89ABab][\dA-Fa-f]){1,3}|x[\dA-Fa-f]{2}|3[0-7]{2}(?:\\{1,8}2[0-7]{2}){1,3}|[0-3][0-7]{2}|[0abefnrtv]|(?=\w))`,
    String.raw`&(?:#0{0,8}\d{1,7}|#[xX]0{0,8}[\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});`,
    compatible,
  ].join('|'),
  'gu',
)
/** A text without any of these holds no encoded and, but for line feeds, no hidden character. Letters of most languages are none. */
const odd =
  /[^ -~\n\xA1-\xA9\xAB\xAC\xAE-\xB1\xB4-\xB8\xBB-\u02AF\u0370-\u058F\u2010-\u2027\u20A0-\u20BF\u2190-\u23FF\u2500-\u27BF\u3041-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3]|\\\\?\w|%[\dA-Fa-fu]|&[#A-Za-z]/

const mayChange = /[^ -~]|[\\%&]/

const entities: ReadonlyMap<string, string> = new Map([
  ['quot', '"'],
  ['amp', '&'],
  ['apos', "'"],
  ['lt', '<'],
  ['gt', '>'],
  ['sol', '/'],
  ['bsol', '\\'],
  ['plus', '+'],
  ['equals', '='],
  ['nbsp', ' '],
])

/** More than an answer can hold of one encoding within another and still be read by a person. */
const maxPasses = 24

/** Whether `decodings` may yield more than the text without its line feeds. */
export function mayBeEncoded(text: string): boolean {
  return odd.test(text)
}

/**
 * A text after each pass that took hidden characters out or decoded encoded ones, until nothing is left of either. What the passes
 * changed is added to `passes`, for `placeIn`; for a long text that takes many times its memory.
 */
export function* decodings(source: string, passes?: Edit[][]): Generator<string> {
  let text = source
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const isStripping = pass % 2 === 0
    const edits: Edit[] | undefined = passes && []
    const next = isStripping
      ? edited(text, hidden, () => '', edits)
      : edited(text, encodedCharacter, decodedCharacter, edits)
    if (next === text && !isStripping) return
    if (next === text) continue
    if (edits !== undefined) passes?.push(edits)
    text = next
    yield text
  }
}

/** Where the part of a text after `passes` from `start` to before `end` was in the source. */
export function placeIn(passes: readonly Edit[][], start: number, end: number): [from: number, to: number] {
  return passes.reduceRight<[number, number]>(
    ([from, to], edits) => [placeBefore(edits, from).from, placeBefore(edits, to - 1).to],
    [start, end],
  )
}

function edited(text: string, pattern: RegExp, change: (found: string) => string, edits?: Edit[]): string {
  // Most texts need no slower pattern.
  if (!mayChange.test(text)) return text
  let shift = 0
  return text.replace(pattern, (found, ...rest: unknown[]) => {
    const changed = change(found)
    if (edits === undefined) return changed
    const from = rest.find((each) => typeof each === 'number') ?? 0
    edits.push({ at: from + shift, length: changed.length, from, to: from + found.length })
    shift += changed.length - found.length
    return changed
  })
}

/** Where a character of a pass's result was before the pass. */
function placeBefore(edits: readonly Edit[], at: number): { from: number; to: number } {
  let low = 0
  let high = edits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((edits[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const last = edits[low - 1]
  if (last === undefined) return { from: at, to: at + 1 }
  const beyond = at - last.at - last.length
  return beyond < 0 ? last : { from: last.to + beyond, to: last.to + beyond + 1 }
}

function decodedCharacter(found: string): string {
  if (found.startsWith('&')) return entity(found.slice(1, -1))
  if (/^%[^u]/.test(found)) return Buffer.from(found.replaceAll('%', ''), 'hex').toString()
  if (!/^[%\\]/.test(found)) return found.normalize('NFKC')
  const numbers = found.match(/[\dA-Fa-f]{2,}/g) ?? []
  if (/x/.test(found)) return bytesOf(numbers.map((each) => Number.parseInt(each, 16)))
  if (/u/i.test(found)) return characterOf(Number.parseInt(/[\dA-Fa-f]+/.exec(found)?.[0] ?? '', 16))
  if (/\d\d/.test(found)) return bytesOf(numbers.map((each) => Number.parseInt(each, 8)))
  if (found.endsWith('\\')) return ''
  return found.endsWith('e') ? '\u001B' : '\0'
}

/** Bytes of UTF-8, or else the characters of those numbers. */
function bytesOf(numbers: readonly number[]): string {
  const bytes = Buffer.from(numbers)
  const text = bytes.toString()
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text
}

/** What is not known is taken for something that is not seen. */
function entity(name: string): string {
  if (!name.startsWith('#')) return entities.get(name) ?? '\0'
  return characterOf(
    /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10),
  )
}

/** One half of a pair stays one: its other half comes next. */
const characterOf = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\0')
