import { metaText as textOf, setMeta as setOf } from '../meta.ts'
import type { Sql } from './connection.ts'
import { runOn } from './engine.ts'

export function metaText(sql: Sql, name: string): Promise<string | undefined> {
  return runOn(sql, textOf(name))
}

export function setMeta(sql: Sql, name: string, value: string | Uint8Array | undefined): Promise<void> {
  return runOn(sql, setOf(name, value))
}
