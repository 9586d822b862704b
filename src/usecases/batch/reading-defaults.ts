import type { ColumnChoices, KeptReading } from '../../domain/batch/columns.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import { keptMapping } from './read-orders.ts'

/** What a default is looked up by. */
export interface DefaultSources {
  mappings: Pick<Mappings, 'get'>
  setting: (key: string) => Promise<string | undefined>
}

/** How a file is read where nobody chose: as the saved mapping does, else as the settings do. */
export async function withDefaults(
  choices: ColumnChoices,
  { mappings, setting }: DefaultSources,
): Promise<ColumnChoices> {
  const { mapping } = choices
  const kept: KeptReading =
    (mapping === undefined ? undefined : await keptMapping(mappings, mapping))?.reading ?? {}
  return {
    ...choices,
    sheet: choices.sheet ?? kept.sheet,
    headerRow: choices.headerRow ?? kept.header_row,
    hidden: choices.hidden ?? kept.hidden,
    encoding: choices.encoding ?? kept.encoding ?? (await setting('encoding')),
    defaultCountry: choices.defaultCountry ?? kept.default_country ?? (await setting('default-country')),
  }
}

/** Whether somebody said how a file is to be read, and not only which one. */
export function saysReading(choices: ColumnChoices): boolean {
  const { sheet, headerRow, encoding, hidden, acceptLines, map, ignore, mapping, defaultCountry } = choices
  const said = [sheet, headerRow, encoding, hidden, acceptLines, map, ignore, mapping, defaultCountry]
  return said.some((each) => each !== undefined)
}
