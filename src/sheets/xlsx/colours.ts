import { type Colour, colourIn, tinted } from '../../domain/sheet/colour.ts'
import type { Archive } from './archive.ts'
import { type Attributes, readXml } from './xml.ts'

/** Colours that others refer to by number. */
export interface Palette {
  /** Of the theme: light, dark, light, dark and six accents, as cells count them. */
  theme: readonly (Colour | undefined)[]
  indexed: readonly (Colour | undefined)[]
}

/** ECMA-376 part 1, 18.8.27: the first eight come twice; the last two are those of the system. */
const basic = '000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF'
const further =
  '800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366 FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF ' +
  '000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 ' +
  '3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333'
const indexedColours = `${basic} ${basic} ${further} 000000 FFFFFF`.split(' ').map(colourIn)

/** What a workbook without a theme has. */
const officeTheme = ['FFFFFF', '000000', 'E7E6E6', '44546A'].map(colourIn)

/** A colour as an element names it (CT_Color); undefined for one that the program chooses, or that is not known. */
export function colourOf(attributes: Attributes, { theme, indexed }: Palette): Colour | undefined {
  const { rgb, theme: ofTheme, indexed: index, tint = '0' } = attributes
  const colour =
    rgb !== undefined
      ? colourIn(rgb)
      : ofTheme !== undefined
        ? theme[Number(ofTheme)]
        : index !== undefined
          ? indexed[Number(index)]
          : undefined
  const by = Number(tint)
  return colour === undefined || Number.isNaN(by) ? undefined : tinted(colour, by)
}

/** The palette of a workbook; `own`: colours that its styles put in place of the usual ones. */
export async function paletteOf(
  archive: Archive,
  part: string | undefined,
  name: string,
  own: readonly string[],
): Promise<Palette> {
  const indexed = own.length === 0 ? indexedColours : own.map(colourIn)
  if (part === undefined) return { theme: officeTheme, indexed }
  const found = new Map<string, Colour | undefined>()
  let of: string | undefined
  await readXml(archive, part, name, {
    spaces: new Map([
      ['http://schemas.openxmlformats.org/drawingml/2006/main', ''],
      ['http://purl.oclc.org/ooxml/drawingml/main', ''],
    ]),
    open(tag, { val = '', lastClr = val }) {
      if (names.includes(tag)) of = tag
      else if (of !== undefined && (tag === 'srgbClr' || tag === 'sysClr') && !found.has(of)) {
        found.set(of, colourIn(tag === 'sysClr' ? lastClr : val))
      }
    },
    close(tag) {
      if (tag === of) of = undefined
    },
  })
  return { theme: names.map((each) => found.get(each)), indexed }
}

/** As cells count them: the light ones first. */
const names = [
  'lt1',
  'dk1',
  'lt2',
  'dk2',
  'accent1',
  'accent2',
  'accent3',
  'accent4',
  'accent5',
  'accent6',
  'hlink',
  'folHlink',
]
