import { UndecidedError } from '../errors/kinds.ts'
import { decoderOf } from './encoding.ts'

/**
 * Refuses a text whose bytes are no UTF-8 and that has no given encoding, with the likeliest ones.
 * `samples`: values of it, each byte a character (Latin-1).
 */
export async function undecidedEncoding(
  name: string,
  position: string,
  samples: readonly string[],
): Promise<UndecidedError> {
  const readings = await likelyReadings(samples)
  const describe = ({ encoding, samples: texts }: (typeof readings)[number]): string =>
    `${encoding} (${texts.slice(0, 2).join(', ')})`
  const [first] = readings
  return new UndecidedError(`${name}: ${position} is not UTF-8, so its letters cannot be told for sure`, {
    about: 'encoding',
    hint:
      first === undefined
        ? 'Save it again as "CSV UTF-8", or name its encoding: --encoding NAME'
        : `Save it as "CSV UTF-8", or say what it is, such as --encoding ${first.encoding}. It may be ${readings.map(describe).join(' or ')}.`,
    question: `${name} is not UTF-8. Which of these is right?`,
    answers: readings.map(({ encoding, of, samples: texts }) => ({
      value: encoding,
      label: `${texts.join(', ')} (${encoding}, ${of})`,
    })),
  })
}

/** A way to read bytes that are no UTF-8, and what some of them say then. */
interface LikelyReading {
  encoding: string
  /** Whose programs write it. */
  of: string
  samples: string[]
}

const candidates: readonly [encoding: string, of: string][] = [
  ['windows-1252', 'Western Europe'],
  ['windows-1250', 'Central Europe'],
  ['windows-1254', 'Turkish'],
  ['windows-1257', 'Baltic'],
  ['macintosh', 'old Macs'],
  ['cp850', 'DOS, Western Europe'],
  ['cp852', 'DOS, Central Europe'],
  ['windows-1251', 'Cyrillic'],
  ['windows-1253', 'Greek'],
  ['windows-1255', 'Hebrew'],
  ['windows-1256', 'Arabic'],
  ['shift_jis', 'Japanese'],
  ['gb18030', 'Chinese, simplified'],
  ['big5', 'Chinese, traditional'],
  ['euc-kr', 'Korean'],
  ['koi8-r', 'Russian, old'],
  ['windows-874', 'Thai'],
]

/**
 * Letters beyond A to Z that a language's names are written with. What mixes letters that no language mixes
 * is hardly the right reading: Dvořák has two Czech letters, Dvoøák one of Danish and one of Czech.
 */
const alphabets = [
  'äöüßéèà',
  'àâæçéèêëîïôœùûüÿ',
  'áéíóúüñçàèòï',
  'ãõáâàçéêíóôúü',
  'àèéìíòóùú',
  'åäöéüà',
  'æøåéöäüóô',
  'áðéíóúýþæö',
  'ëïéóáúèêöüĳ',
  'áčďéěíňóřšťúůýž',
  'áäčďéíĺľňóôŕšťúýž',
  'ąćęłńóśźż',
  'áéíóöőúüű',
  'ăâîșțşţ',
  'čćđšž',
  'çğıİöşüâîû',
  'āčēģīķļņšūž',
  'ąčęėįšųūž',
  'äõöüšž',
  'áéíóú',
].map((letters) => new Set(letters + letters.toUpperCase().normalize('NFC')))

const scripts = [
  /^[\p{Script=Cyrillic}]+$/u,
  /^[\p{Script=Greek}]+$/u,
  /^[\p{Script=Hebrew}\p{M}]+$/u,
  /^[\p{Script=Arabic}\p{M}]+$/u,
  /^[\p{Script=Thai}]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u,
  /^\p{Script=Hangul}+$/u,
]

/** The two or three likeliest readings, the best first. `samples`: values as bytes, each a character (Latin-1). */
export async function likelyReadings(samples: readonly string[]): Promise<LikelyReading[]> {
  const values = [...new Set(samples)].slice(0, 200).map((text) => Buffer.from(text, 'latin1'))
  const scored: (LikelyReading & { score: number })[] = []
  for (const [encoding, of] of candidates) {
    const texts = await decoded(values, encoding)
    if (texts === undefined) continue
    const score = texts.reduce((sum, text) => sum + plausibility(text), 0)
    scored.push({ encoding, of, samples: texts, score })
  }
  // A sort that is stable keeps the order above, the commonest first, among equals.
  scored.sort((a, b) => b.score - a.score)
  const distinct: typeof scored = []
  for (const each of scored) {
    if (distinct.every(({ samples: others }) => others.join('\0') !== each.samples.join('\0')))
      distinct.push(each)
  }
  const [best] = distinct
  const near = distinct.filter(({ score }, at) => at < 2 || score > (best?.score ?? 0) / 2)
  return near
    .slice(0, 3)
    .map(({ encoding, of, samples: texts }) => ({ encoding, of, samples: telling(texts) }))
}

async function decoded(values: readonly Buffer[], encoding: string): Promise<string[] | undefined> {
  try {
    const texts: string[] = []
    for (const bytes of values) {
      const decoder = await decoderOf(encoding)
      texts.push(decoder.decode(bytes) + decoder.end())
    }
    return texts
  } catch {
    return undefined
  }
}

/** From 0 to 1: how much of a text's words look like words. */
function plausibility(text: string): number {
  const words = text.split(/[\p{Zs}\d,.;:'’‘“”"()/-]+/u).filter((word) => /[^\0-\x7F]/.test(word))
  if (words.length === 0) return /[‘’“”–€£°«»]/u.test(text) ? 0.9 : 0
  return words.reduce((sum, word) => sum + wordScore(word), 0) / words.length
}

function wordScore(word: string): number {
  const foreign = Array.from(word).filter((letter) => letter > '\x7F')
  if (foreign.some((letter) => !/[\p{L}\p{M}]/u.test(letter)))
    return /^[€£°§©®™«»–—½º]+$/.test(foreign.join('')) ? 0.5 : 0
  if (foreign.length === Array.from(word).length && scripts.some((script) => script.test(word)))
    return common(word)
  // A capital within small letters.
  if (/\p{Lu}\p{Lu}\p{Ll}/u.test(word)) return 0.1
  if (/\p{Ll}\p{Lu}/u.test(word) && !/^(?:Mc|Mac|De|Di|La|Le|O)\p{Lu}/u.test(word)) return 0.1
  const fitting = alphabets.some((alphabet) => foreign.every((letter) => alphabet.has(letter)))
  if (!fitting) return 0.2
  // Half a word of accents is rarely one.
  return foreign.length * 2 > Array.from(word).length && foreign.length > 1 ? 0.5 : 1
}

/** Multi-byte encodings have rare characters for any two bytes; the common ones are what names use. */
function common(word: string): number {
  if (/^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u.test(word)) {
    return /[\uFF61-\uFF9F]|[\u{20000}-\u{3FFFF}]/u.test(word) ? 0.2 : 0.9
  }
  // KOI8 and Windows-1251 read each other's small letters as capitals.
  return /^\p{Lu}?\p{Ll}*$/u.test(word) || !/\p{Ll}/u.test(word) ? 0.95 : 0.1
}

/** Some values that show the difference. */
function telling(texts: readonly string[]): string[] {
  return texts
    .map((text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 30))
    .filter((text) => text !== '')
    .slice(0, 4)
}
