/** A piece of a number format: what is shown literally, what only takes room, or a code. */
const piece = /"([^"]*)"?|\\(.)|_.|\*(.)|\[([^\]]*)\]|([^])/g

/** What a section of a format shows. */
interface Section {
  /** Codes alone: `#,##0.00`, `@`, `General`. */
  codes: string
  /** Texts that are shown as they stand, in front of the first code and after it. */
  before: string
  after: string
  /** Texts between codes. */
  within: string
  /** Whether it holds for some values only: `[<100]`. */
  conditional: boolean
}

const maxCharacters = 300

/** A format's sections: of numbers above, below and at nought, and of texts. */
export function sectionsOf(format: string): Section[] {
  const none = (): Section => ({ codes: '', before: '', after: '', within: '', conditional: false })
  let section = none()
  const sections = [section]
  for (const [, quoted, escaped, filler, bracket, code] of format.slice(0, maxCharacters).matchAll(piece)) {
    if (code === ';') {
      section = none()
      sections.push(section)
      continue
    }
    const currency = bracket?.startsWith('$') === true ? bracket.slice(1).split('-')[0] : undefined
    const sign = code !== undefined && /[-+(): ]/.test(code) ? code : undefined
    const shown = quoted ?? escaped ?? filler ?? currency ?? sign
    if (shown !== undefined) section[section.codes === '' ? 'before' : 'after'] += shown
    else if (code !== undefined) {
      section.within += section.after
      section.after = ''
      section.codes += code
    } else if (bracket !== undefined && /^[<>=]/.test(bracket)) section.conditional = true
  }
  return sections
}

/** Whether a text in a format is shown as it is: not by `;;;`, nor by `"Mr "@`. */
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
 * The section that shows a number, and whether a minus is put in front of it; undefined where that depends on a
 * condition or nothing shows it.
 */
export function numberSection(
  value: number,
  format: string,
): { section: Section; signed: boolean } | undefined {
  const all = sectionsOf(format)
  const text = textSection(all)
  const sections = all.filter((each) => each !== text).slice(0, 3)
  if (sections.some(({ conditional }) => conditional)) return undefined
  const [positive, negative, nought] = sections
  const section = value < 0 ? (negative ?? positive) : value === 0 ? (nought ?? positive) : positive
  return section === undefined ? undefined : { section, signed: value < 0 && section === positive }
}

/**
 * What a person sees of a number, as far as its format says so for sure: `General`, `0`, `0.00`, `#,##0.0`, or a
 * text in quotes. Undefined for every other format. Decimals are those of English.
 */
export function shownNumber(value: number, format: string): string | undefined {
  if (format === 'General' || format === '@') return String(value)
  const literal = /^"([^"]*)"$/.exec(format)?.[1]
  if (literal !== undefined) return literal
  const found = numberSection(value, format)
  if (found === undefined || found.section.within !== '' || Math.abs(value) >= 1e21) return undefined
  const { codes, before, after } = found.section
  const digits = digitsBy(Math.abs(value), codes)
  return digits === undefined ? undefined : `${found.signed ? '-' : ''}${before}${digits}${after}`.trim()
}

function digitsBy(value: number, codes: string): string | undefined {
  if (codes === 'General') return String(value)
  const plain = /^(#,##)?0(?:\.(0{1,20}))?$/.exec(codes)
  if (plain === null) return undefined
  const fixed = value.toFixed(plain[2]?.length ?? 0)
  return plain[1] === undefined ? fixed : fixed.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ',')
}

/** Why a number is not what is seen of it; undefined where it is, whatever text surrounds its digits. */
export function shownOtherwise(value: number, format: string): string | undefined {
  if (format.includes('%')) return 'is shown as a percentage; give the number itself'
  const shown = shownNumber(value, format)
  if (shown !== undefined) {
    const plain = Number(value.toPrecision(15)) === value
    if (!plain) return `has more digits than are shown; round it to ${String(Number(value.toPrecision(15)))}`
    return sameDigits(value, shown) && isHarmless(shown.replaceAll(/[\d.,]/g, ' '))
      ? undefined
      : `is the number ${value} shown as "${shown.slice(0, 40)}"`
  }
  const found = numberSection(value, format)
  return found !== undefined && showsDigits(value, found.section, found.signed)
    ? undefined
    : `is the number ${value} shown as "${format.slice(0, 40)}"`
}

/** Whether a section shows all digits of a number and its sign, whichever its unit. */
function showsDigits(value: number, { codes, before, within, after }: Section, signed: boolean): boolean {
  const digits = /[0#?][0#?,]*(?:\.([0#?]*))?/.exec(codes)
  if (digits === null || /[/E]|[0#?],+(?![0#?])/i.test(codes)) return false
  if (/\d/.test(before + after) || /[\d.,]/.test(within)) return false
  if (!isHarmless(`${before} ${within} ${after}`)) return false
  if (value === 0 && !digits[0].includes('0')) return false
  if (!signed && /[-−(]/.test(before) !== value < 0) return false
  return Number(value.toFixed(Math.min(20, digits[1]?.length ?? 0))) === value
}

/** Signs and units of currencies and of time: next to a number they do not change it. */
const harmless =
  /^(?:[-−+()/_*'’\p{Sc}]*|[A-Z]{1,2}\$|kr|zł|Kč|Ft|Rs|lei|Fr|(?:year|month|week|day|hour)s?|y(?:ea)?rs?|hrs?|Jahre?|Monate?|Tage?|ans?|mois|jours?|años?|meses|días?)\.?$/u

let currencies: ReadonlySet<string> | undefined

/** Whether texts next to a number leave its value unchanged: 85k, 85 M and <85 are other numbers than 85. */
function isHarmless(rest: string): boolean {
  return rest.split(/\s+/).every((word) => harmless.test(word) || (word.length === 3 && isCurrency(word)))
}

function isCurrency(word: string): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'))
  return currencies.has(word)
}

/** Whether a text shows a number's digits, grouped and rounded to nothing but zeros: 1,234.50 of 1234.5. */
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
