import type { ColumnChoices, KeptMapping, KeptReading, Mapping } from '../../domain/batch/columns.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchFile } from './open-file.ts'
import type { ReadingPorts } from './ports.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { ReadableBatch } from './read-columns.ts'

/** Choices of which it was said that they are kept. */
const told = new WeakSet<ColumnChoices>()

/** Understands the file's columns as somebody chose, asking where somebody can be asked. */
export async function readOrders(
  { api, cache, mappings, prompter, onNotice }: ReadingPorts,
  { sheet }: BatchFile,
  choices: ColumnChoices,
  packageId: number | undefined,
): Promise<ReadableBatch> {
  const [{ readColumns }, { loadSchema }, { noMapping }] = await Promise.all([
    import('./read-columns.ts'),
    import('../form/load-schema.ts'),
    import('../../domain/batch/columns.ts'),
  ])
  const country = choices.defaultCountry
  const orders = await readColumns(sheet, {
    packageId,
    map: choices.map ?? [],
    ignore: choices.ignore ?? [],
    kept: choices.mapping === undefined ? noMapping : await keptMapping(mappings, choices.mapping),
    schemaOf: (id) => loadSchema(id, { api, cache }),
    repair:
      country === undefined
        ? undefined
        : await (await import('../form/phone-repair.ts')).phoneRepair(country),
    prompter,
    hidden: choices.hidden,
    accepted: choices.acceptLines,
    async onAgreed(agreed) {
      // What was answered is not asked again, even where the file fails later.
      choices.map = Object.entries(agreed.map).map((pair) => pair.join('='))
      if (choices.saveMapping !== undefined) return
      onNotice({ name: 'answers-kept', mapping: await keepAnswers(mappings, sheet.name, agreed) })
    },
  })
  const name = choices.saveMapping
  if (name !== undefined) {
    await mappings.put(name, { ...orders.mapping, reading: readingIn(choices) })
    // A file may be read again, with one more answer.
    if (!told.has(choices)) onNotice({ name: 'mapping-kept', mapping: name })
    told.add(choices)
  }
  return orders
}

function readingIn(choices: ColumnChoices): KeptReading {
  const { sheet, headerRow, encoding, hidden, defaultCountry } = choices
  return { sheet, header_row: headerRow, encoding, hidden, default_country: defaultCountry }
}

/** Keeps a mapping under the file's name, another one of that name left as it is; the name it got. */
async function keepAnswers(mappings: Mappings, file: string, mapping: Mapping): Promise<string> {
  const bare = file
    .replace(/^.*[\\/]/, '')
    .replace(/\.[a-z]+$/i, '')
    .toLowerCase()
  const stem = bare
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 40)
  for (let number = 1; ; number += 1) {
    const name = `${stem === '' ? 'file' : stem}${number === 1 ? '' : `-${String(number)}`}`
    const standing = await mappings.get(name)
    if (standing !== undefined && !sameColumns(standing, mapping)) continue
    if (standing === undefined) await mappings.put(name, mapping)
    return name
  }
}

function sameColumns(one: Mapping, other: Mapping): boolean {
  const text = ({ map, ignore }: Mapping): string =>
    JSON.stringify([Object.entries(map).map(String).sort(), [...ignore].sort()])
  return text(one) === text(other)
}

export async function keptMapping(mappings: Pick<Mappings, 'get'>, name: string): Promise<KeptMapping> {
  const kept = await mappings.get(name)
  if (kept !== undefined) return kept
  throw new UsageError(`--mapping: no mapping named "${name}"`, {
    hint: `Save one with: refcheck batch validate FILE --map 'Given name=first_name' --save-mapping ${name}`,
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
