import type { Package } from '../../contract/package.ts'
import type { ListView } from '../view.ts'
import { statusStyle } from '../format.ts'
import { formatCount } from '../../domain/wording/count-in-words.ts'

export function packagesView(packages: readonly Package[]): ListView<Package> {
  return {
    rows: packages,
    columns: [
      { name: 'id', value: (row) => row.id },
      { name: 'name', value: (row) => row.name },
      { name: 'status', value: (row) => row.status, style: (row) => statusStyle(row.status) },
      { name: 'reference_survey', value: (row) => row.details.reference_survey?.name, show: survey },
      {
        name: 'min_referees',
        value: (row) => row.details.reference_survey?.min_referees,
        extra: true,
      },
      { name: 'background_checks', value: (row) => checkNames(row).join('; '), show: checks },
    ],
    empty: 'No packages match, or this user may see none.',
  }
}

function survey(row: Package): string {
  const found = row.details.reference_survey
  if (found === null) return '-'
  return `${found.name ?? 'unnamed'} (${formatCount(found.min_referees, 'referee')})`
}

function checkNames(row: Package): string[] {
  return row.details.background_checks.map((each) => each.check_name ?? 'unnamed')
}

function checks(row: Package): string {
  return checkNames(row).join(', ') || '-'
}
