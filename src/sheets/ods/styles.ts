import { limits } from '../limits.ts'
import type { Archive } from '../xlsx/archive.ts'
import { readXml } from '../xlsx/xml.ts'
import { spaces } from './spaces.ts'

/** What styles say that changes what is read. */
export interface Styles {
  /** Of cells and of parts of texts, by name. */
  struck: ReadonlySet<string>
  hiddenTables: ReadonlySet<string>
}

interface Style {
  name: string
  parent: string
  struck: boolean | undefined
}

export async function stylesOf(archive: Archive, name: string): Promise<Styles> {
  const styles = new Map<string, Style>()
  const hiddenTables = new Set<string>()
  for (const part of ['styles.xml', 'content.xml']) {
    if (!archive.has(part)) continue
    let style: Style | undefined
    await readXml(archive, part, name, {
      spaces,
      largest: limits.sheetBytes,
      open(tag, attributes) {
        if (tag === 'style:style') {
          const { 'style:name': own = '', 'style:parent-style-name': parent = '' } = attributes
          style = { name: own, parent, struck: undefined }
          styles.set(own, style)
          if (styles.size > limits.styles) throw new Error('it has too many styles')
        }
        if (style === undefined) return
        if (tag === 'style:text-properties') style.struck = struckBy(attributes) ?? style.struck
        else if (tag === 'style:table-properties' && attributes['table:display'] === 'false') {
          hiddenTables.add(style.name)
        }
      },
      close(tag) {
        if (tag === 'style:style') style = undefined
      },
    })
  }
  const struck = new Set([...styles.keys()].filter((each) => isStruck(each, styles)))
  return { struck, hiddenTables }
}

function struckBy(attributes: Readonly<Record<string, string>>): boolean | undefined {
  const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type']
  return line === undefined ? undefined : line !== 'none'
}

function isStruck(name: string, styles: ReadonlyMap<string, Style>): boolean {
  let style = styles.get(name)
  for (let steps = 0; style !== undefined && steps < 20; steps += 1) {
    if (style.struck !== undefined) return style.struck
    style = styles.get(style.parent)
  }
  return false
}
