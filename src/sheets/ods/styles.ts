import { type Colour, colourIn, isUnseen, white } from '../../domain/sheet/colour.ts'
import { limits } from '../limits.ts'
import type { Archive } from '../xlsx/archive.ts'
import { readXml } from '../xlsx/xml.ts'
import { spaces } from './spaces.ts'

/** What styles say that changes what is read. */
export interface Styles {
  /** Of cells and of parts of texts, by name. */
  struck: ReadonlySet<string>
  /** Of cells that a condition may strike through, or hide. */
  struckByRule: ReadonlySet<string>
  /** Of cells whose text has the colour of what it stands on. */
  unseen: ReadonlySet<string>
  /** Of cells with a number format of their own. */
  formatted: ReadonlySet<string>
  /** Whether a part of a text cannot be seen in a cell: both by the names of their styles. */
  hides: (part: string, cell: string) => boolean
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
  /** Undefined where it says nothing of it; `auto`: as the program chooses, and none behind a text. */
  colour: Colour | 'auto' | undefined
  background: Colour | 'auto' | undefined
  formatted: boolean
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
          const formatted = attributes['style:data-style-name'] !== undefined
          const said = { struck: undefined, colour: undefined, background: undefined }
          style = { name: own, parent, ...said, formatted, conditional: [] }
          styles.set(own, style)
          if (styles.size > limits.styles) throw new Error('it has too many styles')
        }
        if (style === undefined) return
        if (part === 'content.xml' && isAdorned(tag, attributes)) adorned.add(style.name)
        if (tag === 'style:map') style.conditional.push(attributes['style:apply-style-name'] ?? '')
        if (tag === 'style:text-properties') {
          style.struck = struckBy(attributes) ?? style.struck
          style.colour = colourBy(attributes) ?? style.colour
        } else if (tag === 'style:table-cell-properties') style.background = backgroundBy(attributes)
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
  const named = (is: (each: string) => boolean): Set<string> => new Set([...styles.keys()].filter(is))
  const struck = named((each) => isStruck(each, styles))
  const hides = (part: string, cell: string): boolean => hidesText(styles, part, cell)
  const unseen = named((each) => hides(each, each))
  const struckByRule = named((each) =>
    lineage(each, styles).some(({ conditional }) =>
      conditional.some((other) => struck.has(other) || unseen.has(other)),
    ),
  )
  const formatted = named((each) => lineage(each, styles).some((style) => style.formatted))
  return { struck, struckByRule, unseen, formatted, hides, hiddenTables, widths, adorned }
}

/** A text whose colour is left to the program is always seen: it is chosen by what it stands on. */
function hidesText(styles: ReadonlyMap<string, Style>, part: string, cell: string): boolean {
  const colour = lineage(part, styles).find((style) => style.colour !== undefined)?.colour ?? 'auto'
  const background =
    lineage(cell, styles).find((style) => style.background !== undefined)?.background ?? 'auto'
  return colour !== 'auto' && isUnseen(colour, background === 'auto' ? white : background)
}

function colourBy(attributes: Readonly<Record<string, string>>): Style['colour'] {
  if (attributes['style:use-window-font-color'] === 'true') return 'auto'
  return hexColour(attributes['fo:color'])
}

function backgroundBy(attributes: Readonly<Record<string, string>>): Style['background'] {
  const written = attributes['fo:background-color']
  return written === 'transparent' ? 'auto' : hexColour(written)
}

function hexColour(text = ''): Colour | undefined {
  return text.startsWith('#') ? colourIn(text.slice(1)) : undefined
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
