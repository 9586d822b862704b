import type { SettingEntry } from '../../domain/session/session.ts'
import { wrapped } from '../format.ts'
import type { ListView, View } from '../view.ts'

export function settingsView(rows: readonly SettingEntry[]): ListView<SettingEntry> {
  return {
    rows,
    columns: [
      { name: 'key', value: (row) => row.key },
      { name: 'value', value: (row) => row.value },
      { name: 'from', value: (row) => row.from },
      { name: 'meaning', value: (row) => row.meaning },
    ],
    empty: 'There are no settings.',
  }
}

/** The bare value, for `$(refcheck config get …)`. */
export function settingView(key: string, value: string): View {
  return { json: { key, value }, text: () => value, isVerbatim: true }
}

export function changedView(json: Record<string, unknown>, sentence: string): View {
  return { json, text: ({ columns }) => wrapped(sentence, columns) }
}
