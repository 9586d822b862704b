import type { HiddenRows } from './doubts.ts'
import type { Mapping } from './mapping.ts'

/** How a kind of file is read besides its columns, as a saved mapping keeps it. Lines are of one file alone. */
export interface KeptReading {
  sheet?: string | undefined
  header_row?: number | undefined
  encoding?: string | undefined
  hidden?: HiddenRows | undefined
  default_country?: string | undefined
}

export interface KeptMapping extends Mapping {
  reading?: KeptReading | undefined
}

/** A kept reading out of JSON; undefined for anything else. */
export function keptReading(value: unknown): KeptReading | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { sheet, header_row, encoding, hidden, default_country } = value as Record<string, unknown>
  const reading: KeptReading = {}
  if (typeof sheet === 'string') reading.sheet = sheet
  if (typeof header_row === 'number' && Number.isInteger(header_row) && header_row > 0)
    reading.header_row = header_row
  if (typeof encoding === 'string') reading.encoding = encoding
  if (hidden === 'include' || hidden === 'skip') reading.hidden = hidden
  if (typeof default_country === 'string') reading.default_country = default_country
  return reading
}
