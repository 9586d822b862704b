import type { FieldValue } from '../../contract/request-body.ts'
import { readJson } from '../form/json-text.ts'
import type { JsonRow } from '../sheet/cell.ts'

/**
 * A JSON object as columns: its names as they are, `{"recipient": {"email": …}}` and
 * `{"additional_information": [{"code": …, "fields": {…}}]}` (a request's body) taken apart as dotted names,
 * and so is an object under any other name.
 */
export function jsonRow(text: string): JsonRow {
  const { value, fault } = readJson(text)
  if (fault !== undefined) return { fault }
  const entries: [string, FieldValue][] = []
  for (const [name, inner] of Object.entries(value as Record<string, FieldValue>)) {
    if (name === 'additional_information' && Array.isArray(inner)) {
      const parts = informationEntries(inner)
      if (parts === undefined) return wrongInformation
      entries.push(...parts)
    } else if (isObject(inner) && !name.includes('.')) {
      for (const [part, deep] of Object.entries(inner)) entries.push([`${name}.${part}`, deep])
    } else {
      entries.push([name, inner])
    }
  }
  const names = new Set<string>()
  for (const [name] of entries) {
    if (names.has(name)) return { fault: { reason: `has "${name.slice(0, 80)}" twice`, offset: 0 } }
    names.add(name)
  }
  return { entries }
}

const wrongInformation: JsonRow = {
  fault: { reason: 'additional_information is not a list of {"code", "fields"}', offset: 0 },
}

function informationEntries(list: readonly FieldValue[]): [string, FieldValue][] | undefined {
  const entries: [string, FieldValue][] = []
  for (const each of list) {
    if (!isObject(each) || typeof each['code'] !== 'string' || !isObject(each['fields'])) return undefined
    if (Object.keys(each).length !== 2) return undefined
    for (const [name, value] of Object.entries(each['fields']))
      entries.push([`${each['code']}.${name}`, value])
  }
  return entries
}

function isObject(value: FieldValue | undefined): value is Record<string, FieldValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
