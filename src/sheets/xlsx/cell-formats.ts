import { showsText } from '../../domain/sheet/number-format.ts'
import { limits } from '../limits.ts'
import type { Archive } from './archive.ts'
import { builtInCode, isBuiltInDate } from './built-in-formats.ts'
import { isDateCode } from './dates.ts'
import { type Attributes, isOn, readXml } from './xml.ts'

export interface CellFormat {
  code: string
  date: boolean
  /** Whether texts are shown as they are. */
  plain: boolean
  struck: boolean
  /** Whether it has a font, a colour or a border of its own. */
  adorned: boolean
}

interface Font {
  struck: boolean
  /** What is said of it besides. */
  look: string
}

export interface CellFormats {
  /** Of each cell style, by its index. */
  formats: readonly CellFormat[]
  /** Formats of rules that strike through, by their index. */
  striking: ReadonlySet<number>
}

export async function cellFormats(
  archive: Archive,
  part: string | undefined,
  name: string,
): Promise<CellFormats> {
  const styles = new StylesPart()
  if (part !== undefined) await readXml(archive, part, name, styles)
  return styles
}

const idOf = (text = '0'): number => Number(text)

class StylesPart {
  readonly formats: CellFormat[] = []
  readonly #codes = new Map<number, string>()
  readonly #fonts: Font[] = []
  readonly striking = new Set<number>()
  #rules = 0
  #within: 'fonts' | 'cellXfs' | 'dxfs' | undefined

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'fonts' || tag === 'cellXfs' || tag === 'dxfs') this.#within = tag
    else if (tag === 'numFmt') {
      this.#codes.set(idOf(attributes['numFmtId']), attributes['formatCode'] ?? '')
    } else if (this.#within === 'fonts') this.#openFont(tag, attributes)
    else if (tag === 'dxf') this.#rules += 1
    else if (tag === 'strike' && this.#within === 'dxfs' && isOn(attributes))
      this.striking.add(this.#rules - 1)
    else if (tag === 'xf' && this.#within === 'cellXfs') this.formats.push(this.#formatOf(attributes))
    if (this.formats.length > limits.styles) throw new Error('it has too many styles')
  }

  readonly close = (tag: string): void => {
    if (tag === this.#within) this.#within = undefined
  }

  #openFont(tag: string, attributes: Attributes): void {
    const font = this.#fonts.at(-1)
    if (tag === 'font') this.#fonts.push({ struck: false, look: '' })
    else if (tag === 'strike' && font !== undefined) font.struck = isOn(attributes)
    else if (font !== undefined && font.look.length < 1000) {
      font.look += tag + JSON.stringify(Object.entries(attributes))
    }
  }

  #formatOf({ numFmtId, fontId, fillId, borderId }: Attributes): CellFormat {
    const id = idOf(numFmtId)
    const font = this.#fonts[idOf(fontId)]
    const isPlain =
      // The first two fills are none and a pattern that nobody uses.
      idOf(fillId) < 2 && idOf(borderId) === 0 && (font === undefined || font.look === this.#fonts[0]?.look)
    const { code, date } = shownBy(id, this.#codes.get(id))
    return { code, date, plain: showsText(code), struck: font?.struck === true, adorned: !isPlain }
  }
}

function shownBy(id: number, code = ''): Pick<CellFormat, 'code' | 'date'> {
  if (code !== '') return { code, date: isDateCode(code) }
  return { code: builtInCode(id), date: isBuiltInDate(id) }
}
