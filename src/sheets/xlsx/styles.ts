import { builtInId } from './built-in-formats.ts'
import { escaped } from './escapes.ts'

/** Styles of a workbook being written; a format is given a style when it is first asked for. */
export class Styles {
  static readonly plain = 0
  static readonly text = 1
  static readonly header = 2
  static readonly required = 3
  readonly #formats: string[] = []
  readonly #places = new Map<string, number>()

  of(format: string): number {
    if (format === 'General') return Styles.plain
    if (format === '@') return Styles.text
    const known = this.#places.get(format)
    if (known !== undefined) return known
    const place = 3 + this.#formats.push(format)
    this.#places.set(format, place)
    return place
  }

  xml(): string {
    const ids = new Map<string, number>()
    for (const format of this.#formats) {
      if (builtInId(format) === undefined && !ids.has(format)) ids.set(format, 164 + ids.size)
    }
    const idOf = (format: string): number => builtInId(format) ?? ids.get(format) ?? 0
    const formats = [...ids].map(
      ([code, id]) => `<numFmt numFmtId="${String(id)}" formatCode="${escaped(code)}"/>`,
    )
    const cells = this.#formats.map((format) => style(idOf(format), 'applyNumberFormat="1"'))
    return [
      '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
      '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
      formats.length === 0 ? '' : `<numFmts count="${String(formats.length)}">${formats.join('')}</numFmts>`,
      '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>',
      '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>',
      '<fills count="3"><fill><patternFill patternType="none"/></fill>',
      '<fill><patternFill patternType="gray125"/></fill>',
      '<fill><patternFill patternType="solid"><fgColor rgb="FFFFF2CC"/></patternFill></fill></fills>',
      '<borders count="1"><border/></borders>',
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
      `<cellXfs count="${String(4 + cells.length)}">`,
      style(0, ''),
      style(49, 'applyNumberFormat="1"'),
      style(49, 'applyNumberFormat="1" applyFont="1"', 1),
      style(49, 'applyNumberFormat="1" applyFont="1" applyFill="1"', 1, 2),
      ...cells,
      '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
      '</styleSheet>',
    ].join('')
  }
}

function style(format: number, applied: string, font = 0, fill = 0): string {
  return `<xf numFmtId="${String(format)}" fontId="${String(font)}" fillId="${String(fill)}" borderId="0" xfId="0" ${applied}/>`
}
