import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { Mapping } from '../../domain/batch/mapping.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchFile } from './open-file.ts'
import type { Noticing, ReadingPorts } from './ports.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { Orders } from './understand-orders.ts'

/** Understands the file's columns as somebody chose, asking where somebody can be asked. */
export async function readOrders(
  { api, cache, mappings, prompter, onNotice }: ReadingPorts,
  { sheet }: BatchFile,
  choices: ColumnChoices,
  packageId: number | undefined,
): Promise<Orders> {
  const [{ understandOrders }, { loadSchema }, { noMapping }] = await Promise.all([
    import('./understand-orders.ts'),
    import('../form/load-schema.ts'),
    import('../../domain/batch/mapping.ts'),
  ])
  const country = choices.defaultCountry
  const orders = await understandOrders(sheet, {
    packageId,
    map: choices.map ?? [],
    ignore: choices.ignore ?? [],
    kept: choices.mapping === undefined ? noMapping : await keptMapping(mappings, choices.mapping),
    schemaOf: (id) => loadSchema(id, { api, cache }),
    repair:
      country === undefined ? undefined : await (await import('./phone-repair.ts')).phoneRepair(country),
    prompter,
  })
  const name = choices.saveMapping
  if (name !== undefined) {
    await mappings.put(name, orders.mapping)
    onNotice({ name: 'mapping-kept', mapping: name })
  }
  return orders
}

async function keptMapping(mappings: Mappings, name: string): Promise<Mapping> {
  const kept = await mappings.get(name)
  if (kept !== undefined) return kept
  throw new UsageError(`--mapping: there is no mapping "${name}"`, {
    hint: `Keep one first: refcheck batch validate FILE --map … --save-mapping ${name}`,
  })
}

/** The package that rows without one of their own are for: the chosen one, the setting's, or a person's choice. */
export async function packageFor(
  {
    api,
    prompter,
    packageSetting,
  }: Pick<ReadingPorts, 'api' | 'prompter'> & { packageSetting: number | undefined },
  { sheet }: BatchFile,
  { packageId, map }: ColumnChoices,
): Promise<number | undefined> {
  if (packageId !== undefined) return packageId
  const names = [
    ...sheet.columns.map((column) => column.trim()),
    ...(map ?? []).map((each) => each.split('=').pop()),
  ]
  if (names.includes('package_id')) return undefined
  if (packageSetting !== undefined) return packageSetting
  if (prompter === undefined) return undefined
  const { choosePackage } = await import('../form/choose-package.ts')
  const packages = await api.listPackages({ status: 'active' })
  return (await choosePackage(prompter, packages)).id
}

/** For when all of the file was read. */
export function noteGuess({ onNotice }: Noticing, { name, sheet }: BatchFile): void {
  if (sheet.dialect.encoding === 'windows-1252') onNotice({ name: 'guessed-encoding', file: name })
}
