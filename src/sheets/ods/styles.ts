import { limits } from '../limits.ts'
import type { Archive } from '../xlsx/archive.ts'
import { readXml } from '../xlsx/xml.ts'
import { spaces } from './spaces.ts'

/** What styles say that changes what is read. */
export interface Styles {
  /** Of cells and of parts of texts, by name. */
  struck: ReadonlySet<string>
  /** Of cells that a condition may strike through. */
  struckByRule: ReadonlySet<string>
  hiddenTables: ReadonlySet<string>
  /** Of columns, in characters. */
  widths: ReadonlyMap<string, number>
  /** Of cells and texts that have a font, a colour or a border of their own. */
  adorned: ReadonlySet<string>
}

interface Style {
  name: string
  parent: string
  struck: boolean | undefined
  /** Styles that conditions put in its place. */
  conditional: string[]
}

export async function stylesOf(archive: Archive, name: string): Promise<Styles> {
  const styles = new Map<string, Style>()
  const hiddenTables = new Set<string>()
  const widths = new Map<string, number>()
  const adorned = new Set<string>()
  for (const part of ['styles.xml', 'content.xml']) {
    if (!archive.has(part)) continue
    let style: Style | undefined
    await readXml(archive, part, name, {
      spaces,
      largest: limits.sheetBytes,
      open(tag, attributes) {
        if (tag === 'style:style') {
          const { 'style:name': own = '', 'style:parent-style-name': parent = '' } = attributes
          style = { name: own, parent, struck: undefined, conditional: [] }
          styles.set(own, style)
          if (styles.size > limits.styles) throw new Error('it has too many styles')
        }
        if (style === undefined) return
        if (part === 'content.xml' && isAdorned(tag, attributes)) adorned.add(style.name)
        if (tag === 'style:map') style.conditional.push(attributes['style:apply-style-name'] ?? '')
        if (tag === 'style:text-properties') style.struck = struckBy(attributes) ?? style.struck
        else if (tag === 'style:table-column-properties') {
          const width = characters(attributes['style:column-width'])
          if (width !== undefined) widths.set(style.name, width)
        }
        if (tag === 'style:table-properties' && attributes['table:display'] === 'false') {
          hiddenTables.add(style.name)
        }
      },
      close(tag) {
        if (tag === 'style:style') style = undefined
      },
    })
  }
  const struck = new Set([...styles.keys()].filter((each) => isStruck(each, styles)))
  const struckByRule = new Set(
    [...styles.keys()].filter((each) =>
      lineage(each, styles).some(({ conditional }) => conditional.some((other) => struck.has(other))),
    ),
  )
  return { struck, struckByRule, hiddenTables, widths, adorned }
}

/** Widths of characters at 96 points an inch, 7 points wide each, in a cell of 5 points more. */
function characters(length = ''): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(cm|mm|in|pt|pc)$/.exec(length) ?? []
  const inches: Record<string, number> = { cm: 1 / 2.54, mm: 1 / 25.4, in: 1, pt: 1 / 72, pc: 1 / 6 }
  const width = (Number(digits) * (inches[unit] ?? 0) * 96 - 5) / 7
  return width > 0 && width <= 255 ? Math.round(width * 100) / 100 : undefined
}

function isAdorned(tag: string, attributes: Readonly<Record<string, string>>): boolean {
  if (tag === 'style:text-properties') {
    return ['fo:color', 'fo:font-weight', 'fo:font-style', 'fo:font-size', 'style:font-name'].some(
      (each) => attributes[each] !== undefined,
    )
  }
  if (tag !== 'style:table-cell-properties') return false
  const { 'fo:background-color': background = 'transparent', 'fo:border': border = 'none' } = attributes
  return background !== 'transparent' || border !== 'none'
}

function struckBy(attributes: Readonly<Record<string, string>>): boolean | undefined {
  const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type']
  return line === undefined ? undefined : line !== 'none'
}

function isStruck(name: string, styles: ReadonlyMap<string, Style>): boolean {
  return lineage(name, styles).find(({ struck }) => struck !== undefined)?.struck ?? false
}

/** A style and those that it is made from, the nearest first. */
function lineage(name: string, styles: ReadonlyMap<string, Style>): Style[] {
  const found: Style[] = []
  for (
    let style = styles.get(name);
    style !== undefined && found.length < 20;
    style = styles.get(style.parent)
  )
    found.push(style)
  return found
}
