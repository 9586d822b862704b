import { isUnseen, white } from '../../domain/sheet/colour.ts'
import { colourOf, type Palette } from './colours.ts'
import { type Fill, noFill, putFill, textColour } from './fills.ts'
import { type Attributes, isOn } from './xml.ts'

/** What a rule puts in place of a cell's own. */
interface Rule {
  struck: boolean
  /** Whether it has a number format, which shows the value otherwise. */
  formatted: boolean
  colour: Attributes | undefined
  fill: Fill | undefined
}

/** Formats of rules (`dxf`), as their elements come. */
export class RuleFormats {
  readonly #rules: Rule[] = []
  /** Whether what a rule says now is said of its font. */
  #ofFont = false

  get count(): number {
    return this.#rules.length
  }

  open(tag: string, attributes: Attributes): void {
    const rule = this.#rules.at(-1)
    if (tag === 'font' || tag === 'fill' || tag === 'border') this.#ofFont = tag === 'font'
    if (tag === 'dxf')
      this.#rules.push({ struck: false, formatted: false, colour: undefined, fill: undefined })
    else if (rule === undefined) return
    else if (tag === 'strike') rule.struck = isOn(attributes)
    else if (tag === 'numFmt') rule.formatted = true
    else if (tag === 'fill') rule.fill = noFill()
    else if (tag === 'color' && this.#ofFont) rule.colour = attributes
    else putFill(rule.fill, tag, attributes)
  }

  /** Those that strike through, hide or show values otherwise, by their index. */
  striking(palette: Palette): Set<number> {
    return new Set([...this.#rules.keys()].filter((at) => changes(this.#rules[at], palette)))
  }
}

/** Whether cells are seen otherwise under a rule. What it fills them with stands at its back (18.8.14, `dxf`). */
function changes(rule: Rule | undefined, palette: Palette): boolean {
  if (rule === undefined || rule.struck || rule.formatted) return rule !== undefined
  const { colour, fill } = rule
  if (colour === undefined && fill === undefined) return false
  const isPlain = ['none', 'solid', undefined].includes(fill?.pattern)
  const behind = fill?.back ?? fill?.front
  const background = behind === undefined ? white : colourOf(behind, palette)
  const front = textColour(colour ?? {}, palette)
  return isPlain && background !== undefined && front !== undefined && isUnseen(front, background)
}
