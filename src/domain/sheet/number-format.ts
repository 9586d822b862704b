/** A piece of a number format: what is shown as it stands, what only takes room, or a code. */
const piece = /"([^"]*)"?|\\(.)|_.|\*(.)|\[([^\]]*)\]|([^])/g

/** What a section of a format shows. */
export interface Section {
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

const mostCharacters = 300

/** A format's sections: of numbers above, below and at nought, and of texts. */
export function sectionsOf(format: string): Section[] {
  const none = (): Section => ({ codes: '', before: '', after: '', within: '', conditional: false })
  let section = none()
  const sections = [section]
  for (const [, quoted, escaped, filler, bracket, code] of format.slice(0, mostCharacters).matchAll(piece)) {
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
