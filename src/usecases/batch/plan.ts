import type { Api } from '../../api/api.ts'
import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { FileReading } from '../../domain/batch/new-row.ts'
import type { CheckedFile, Plan } from '../../domain/batch/plan.ts'
import type { Package } from '../../contract/package.ts'
import { localDay } from '../../domain/wording/local-time.ts'
import { sharedKey } from '../../domain/submission/identity.ts'
import type { Clock } from '../../host/clock.ts'
import type { Governor } from '../quota/governor.ts'
import type { Random } from '../../host/random.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import type { BatchFile } from './open-file.ts'
import type { Allowances, FilePlace, NoticePort } from './ports.ts'
import { openWitnesses, type WitnessPorts } from './witnesses.ts'
import { linkedPackages } from './linked-packages.ts'
import type { ReadableBatch } from './read-columns.ts'

/** A file checked and compared with the store; nothing is sent. */
export interface Planned {
  plan: Plan
  intake: CheckedFile
  batch: NewFileBatch
  reading: FileReading
  /** Of the service; undefined where the file is only checked. */
  packages: readonly Package[] | undefined
}

export interface PlanOptions {
  choices: ColumnChoices
  allowances: Allowances
  packageId: number | undefined
  resultsFile: string | undefined
  /** Which packages replaced which is not read: the file is only checked. */
  isCheck?: boolean | undefined
  /** The file is a batch already that was read otherwise. */
  isReadOtherwise?: boolean | undefined
}

export interface PlanPorts extends NoticePort, Omit<WitnessPorts, 'api' | 'batches'> {
  clock: Clock
  random: Random
  api: Pick<Api, 'baseUrl' | 'userEmail' | 'listPackages' | 'getRequest'>
  /** Whose people these are. */
  account: string
  batches: Pick<Batches, 'preview' | 'list' | 'rows'>
  place: FilePlace
  waiting: Pick<HeldRows, 'linkPackages'>
  /** Tells how long sending takes. */
  governor: Pick<Governor, 'take' | 'standing' | 'secondsFor'>
}

export async function planBatch(
  ports: PlanPorts,
  file: BatchFile,
  orders: ReadableBatch,
  { choices, allowances, packageId, resultsFile, isCheck = false, isReadOtherwise = false }: PlanOptions,
): Promise<Planned> {
  const [{ checkFile }, { fileIdentity, readingText }, { planOf }] = await Promise.all([
    import('./take-in.ts'),
    import('../../domain/batch/new-row.ts'),
    import('../../domain/batch/plan.ts'),
  ])
  const { clock, random, batches, governor, account } = ports
  const { baseUrl, userEmail } = ports.api
  const witnesses = allowances.ignoreResults ? 'not heard' : await openWitnesses(ports, ports.place, file)
  const intake = await checkFile(orders, localDay(clock.now()), witnesses)
  const reading = readingOf(choices, orders.mapping)
  const batch: NewFileBatch = {
    id: random.uuid(),
    addedAt: clock.now(),
    baseUrl,
    userEmail,
    identity: fileIdentity(
      { account, baseUrl },
      file.sha256,
      packageId,
      isReadOtherwise ? reading : undefined,
    ),
    name: file.name,
    sha256: file.sha256,
    packageId,
    path: file.path,
    resultsFile,
    reading: readingText(reading),
    account,
    allowDuplicate: allowances.allowDuplicate,
    allowSimilar: allowances.allowSimilar,
    shared: allowances.shared.map(sharedKey),
  }
  const packages = isCheck ? undefined : await linkedPackages(ports)
  const preview = await batches.preview(batch, intake.rows)
  // What was used of the quota before stands in the store.
  if (!isCheck) await governor.standing()
  const seconds = isCheck ? 0 : governor.secondsFor(preview.counts.pending)
  return {
    plan: planOf(intake.check, preview, { batchId: batch.id, seconds, now: clock.now() }),
    intake,
    batch,
    reading,
    packages,
  }
}

export function readingOf(
  choices: ColumnChoices,
  { map, ignore }: Pick<FileReading, 'map' | 'ignore'>,
): FileReading {
  return {
    sheet: choices.sheet ?? null,
    map,
    ignore,
    default_country: choices.defaultCountry ?? null,
    header_row: choices.headerRow ?? null,
    encoding: choices.encoding ?? null,
    hidden: choices.hidden ?? null,
    accept_lines: choices.acceptLines ?? [],
  }
}
