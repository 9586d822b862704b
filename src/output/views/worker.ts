import { jsonText } from '../json.ts'
import type { View } from '../view.ts'

/** A line of a log: the same JSON for people and programs. */
export function logView(entry: Record<string, unknown>): View {
  return { json: entry, text: () => jsonText(entry) }
}
