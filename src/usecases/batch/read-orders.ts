import type { ColumnFlags } from '../../cli/flags/columns.ts'
import type { Services } from '../../cli/services.ts'
import type { Mapping } from '../../domain/batch/mapping.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchFile } from './open-file.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { Orders } from './understand-orders.ts'

/** Understands the file's columns as the flags say, asking where somebody can be asked. */
export async function readOrders(
  services: Services,
  { sheet }: BatchFile,
  flags: ColumnFlags,
  packageId: number | undefined,
): Promise<Orders> {
  const [{ understandOrders }, { loadSchema }, { noMapping }] = await Promise.all([
    import('./understand-orders.ts'),
    import('../form/load-schema.ts'),
    import('../../domain/batch/mapping.ts'),
  ])
  const country = flags['default-country']
  const [api, cache] = [await services.api(), await services.schemas()]
  const { openMappings } = await import('../../store/config/mappings.ts')
  const mappings = openMappings(services.paths)
  const orders = await understandOrders(sheet, {
    packageId,
    map: flags.map ?? [],
    ignore: flags.ignore ?? [],
    kept: flags.mapping === undefined ? noMapping : await keptMapping(mappings, flags.mapping),
    schemaOf: (id) => loadSchema(id, { api, cache }),
    repair:
      country === undefined ? undefined : await (await import('./phone-repair.ts')).phoneRepair(country),
    prompter: services.prompter(),
  })
  const name = flags['save-mapping']
  if (name !== undefined) {
    await mappings.put(name, orders.mapping)
    services.reporter.note(`Kept how the columns were read: use it with --mapping ${name}`)
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

/** The package that rows without one of their own are for: the flag's, the setting's, or a person's choice. */
export async function packageFor(
  services: Services,
  { sheet }: BatchFile,
  { package: flag, map }: ColumnFlags,
): Promise<number | undefined> {
  if (flag !== undefined) return flag
  const names = [
    ...sheet.columns.map((column) => column.trim()),
    ...(map ?? []).map((each) => each.split('=').pop()),
  ]
  if (names.includes('package_id')) return undefined
  const kept = await services.packageSetting()
  if (kept !== undefined) return kept
  const prompter = services.prompter()
  if (prompter === undefined) return undefined
  const { choosePackage } = await import('../form/choose-package.ts')
  const packages = await (await services.api()).listPackages({ status: 'active' })
  return (await choosePackage(prompter, packages)).id
}

/** A file whose code page had to be guessed: names may look other than they are. For when all of it was read. */
export function noteGuess({ reporter }: Services, { name, sheet }: BatchFile): void {
  if (sheet.dialect.encoding !== 'windows-1252') return
  reporter.warn(
    `${name} is not UTF-8 and is read as Windows-1252: look at names with accents, or save it as UTF-8.`,
  )
}
