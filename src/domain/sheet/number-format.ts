/** Matches a token of a number format: a literal text, a padding, a condition, a currency or a code. */
const token = /"([^"]*)"?|\\(.)|_.|\*(.)|\[([^\]]*)\]|([^])/g

/** A section of a number format. */
interface Section {
  /** The codes without literal texts: `#,##0.00`, `@`, `General`. */
  codes: string
  /** Literal texts before the first code, and after the last one. */
  before: string
  after: string
  /** Literal texts between codes. */
  within: string
  /** Whether the section has a condition: `[<100]`. */
  isConditional: boolean
}

const maxCharacters = 300

/** Returns the sections of a format: for positive numbers, negative numbers, zero, and texts. */
export function sectionsOf(format: string): Section[] {
  const emptySection = (): Section => ({ codes: '', before: '', after: '', within: '', isConditional: false })
  let section = emptySection()
  const sections = [section]
  for (const [, quoted, escaped, filler, bracket, code] of format.slice(0, maxCharacters).matchAll(token)) {
    if (code === ';') {
      section = emptySection()
      sections.push(section)
      continue
    }
    const currency = bracket?.startsWith('$') === true ? bracket.slice(1).split('-')[0] : undefined
    const punctuation = code !== undefined && /[-+(): ]/.test(code) ? code : undefined
    const literal = quoted ?? escaped ?? filler ?? currency ?? punctuation
    if (literal !== undefined) section[section.codes === '' ? 'before' : 'after'] += literal
    else if (code !== undefined) {
      section.within += section.after
      section.after = ''
      section.codes += code
    } else if (bracket !== undefined && /^[<>=]/.test(bracket)) section.isConditional = true
  }
  return sections
}

/** Whether a format displays texts unchanged. `;;;` hides them, and `"Mr "@` adds to them. */
export function showsText(format: string): boolean {
  const sections = sectionsOf(format)
  const section = textSection(sections)
  if (section === undefined) return true
  return (
    /^(?:@|General)$/i.test(section.codes) && (section.before + section.within + section.after).trim() === ''
  )
}

function textSection(sections: readonly Section[]): Section | undefined {
  return sections[3] ?? (sections.at(-1)?.codes.includes('@') === true ? sections.at(-1) : undefined)
}

/**
 * Returns the section that displays a number, and whether a minus is added. Returns undefined if the section depends
 * on a condition, or if there is none.
 */
export function numberSection(
  value: number,
  format: string,
): { section: Section; addsMinus: boolean } | undefined {
  const allSections = sectionsOf(format)
  const text = textSection(allSections)
  const sections = allSections.filter((each) => each !== text).slice(0, 3)
  if (sections.some(({ isConditional }) => isConditional)) return undefined
  const [positive, negative, zero] = sections
  const section = value < 0 ? (negative ?? positive) : value === 0 ? (zero ?? positive) : positive
  return section === undefined ? undefined : { section, addsMinus: value < 0 && section === positive }
}

/**
 * Returns how a format displays a number in English, for formats of which this is certain: `General`, `0`, `0.00`,
 * `#,##0.0`, or a text in quotes. Returns undefined for other formats.
 */
export function displayedNumber(value: number, format: string): string | undefined {
  if (format === 'General' || format === '@') return String(value)
  const literal = /^"([^"]*)"$/.exec(format)?.[1]
  if (literal !== undefined) return literal
  const match = numberSection(value, format)
  if (match === undefined || match.section.within !== '' || Math.abs(value) >= 1e21) return undefined
  const { codes, before, after } = match.section
  const digits = formatDigits(Math.abs(value), codes)
  return digits === undefined ? undefined : `${match.addsMinus ? '-' : ''}${before}${digits}${after}`.trim()
}

function formatDigits(value: number, codes: string): string | undefined {
  if (codes === 'General') return String(value)
  const match = /^(#,##)?0(?:\.(0{1,20}))?$/.exec(codes)
  if (match === null) return undefined
  const fixed = value.toFixed(match[2]?.length ?? 0)
  return match[1] === undefined ? fixed : fixed.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ',')
}

/** Returns how a number differs from its display; undefined if the display has the same digits, sign and magnitude. */
export function findDisplayDifference(value: number, format: string): string | undefined {
  if (format.includes('%')) return 'is shown as a percentage; give the number itself'
  const shown = displayedNumber(value, format)
  if (shown !== undefined) {
    const hasFewDigits = Number(value.toPrecision(15)) === value
    if (!hasFewDigits)
      return `has more digits than are shown; round it to ${String(Number(value.toPrecision(15)))}`
    return sameDigits(value, shown) && isHarmless(shown.replaceAll(/[\d.,]/g, ' '))
      ? undefined
      : `is the number ${value} shown as "${shown.slice(0, 40)}"`
  }
  const match = numberSection(value, format)
  return match !== undefined && showsAllDigits(value, match.section, match.addsMinus)
    ? undefined
    : `is the number ${value} shown as "${format.slice(0, 40)}"`
}

/** Whether a section displays all digits of a number and its sign, possibly with a unit. */
function showsAllDigits(
  value: number,
  { codes, before, within, after }: Section,
  addsMinus: boolean,
): boolean {
  const digits = /[0#?][0#?,]*(?:\.([0#?]*))?/.exec(codes)
  if (digits === null || /[/E]|[0#?],+(?![0#?])/i.test(codes)) return false
  if (/\d/.test(before + after) || /[\d.,]/.test(within)) return false
  if (!isHarmless(`${before} ${within} ${after}`)) return false
  if (value === 0 && !digits[0].includes('0')) return false
  if (!addsMinus && /[-−(]/.test(before) !== value < 0) return false
  return Number(value.toFixed(Math.min(20, digits[1]?.length ?? 0))) === value
}

/** Matches signs, and units of currencies and of time, which do not change the value of a number next to them. */
const harmless =
  /^(?:[-−+()/_*'’\p{Sc}]*|[A-Z]{1,2}\$|kr|zł|Kč|Ft|Rs|lei|Fr|(?:year|month|week|day|hour)s?|y(?:ea)?rs?|hrs?|Jahre?|Monate?|Tage?|ans?|mois|jours?|años?|meses|días?)\.?$/u

let currencies: ReadonlySet<string> | undefined

/** Whether the texts next to a number do not change its value. The "k" in 85k and the "<" in <85 change it. */
function isHarmless(rest: string): boolean {
  return rest.split(/\s+/).every((word) => harmless.test(word) || (word.length === 3 && isCurrency(word)))
}

function isCurrency(word: string): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'))
  return currencies.has(word)
}

/**
 * Whether a text has the digits of a number, possibly with group separators and further zeros: 1,234.50 for 1234.5.
 */
function sameDigits(value: number, shown: string): boolean {
  const digits = shown.replaceAll(/\D/g, '')
  if (digits === '') return false
  if (Number(shown) === value) return true
  const isNegative = /^\W*[-−(]/.test(shown)
  if (isNegative !== value < 0) return false
  for (let decimals = 0; decimals <= 10; decimals += 1) {
    const fixed = Math.abs(value).toFixed(decimals)
    if (Number(fixed) === Math.abs(value) && fixed.replace('.', '') === digits) return true
  }
  return false
}
