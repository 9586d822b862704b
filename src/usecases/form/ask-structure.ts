import type { FieldValue } from '../../contract/request-body.ts'
import type { Choice, Prompter } from '../../prompt/prompter.ts'
import { readFieldText } from '../../domain/form/field-value.ts'

export interface StructureQuestion {
  type: 'array' | 'object'
  label: string
  required: boolean
  help: string
  /** What stands there now. */
  current?: FieldValue | undefined
}

/** What one value can be; the schema tells no more of a list or a group than that it is one. */
type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object'

const kinds: readonly Choice<Kind>[] = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'A number' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'object', label: 'A group of names and values' },
  { value: 'array', label: 'A list' },
]

/** Asks for a list or a group, piece by piece or as JSON; undefined where an optional one is skipped. */
export async function askStructure(
  prompter: Prompter,
  question: StructureQuestion,
): Promise<FieldValue | undefined> {
  const { type, label, required, help, current } = question
  const pieces = type === 'array' ? 'Item by item' : 'Name by name, each with its value'
  const way = await prompter.select<'pieces' | 'none' | 'json' | 'skip'>({
    message: `${label} (${type === 'array' ? 'a list' : 'a group of names and values'}, ${required ? 'required' : 'optional'})`,
    choices: [
      { value: 'pieces', label: pieces, detail: help },
      ...(type === 'array' ? [{ value: 'none' as const, label: 'None: an empty list', detail: help }] : []),
      {
        value: 'json',
        label: current === undefined ? 'As JSON' : 'As JSON, starting from the current value',
        detail: help,
      },
      ...(required ? [] : [{ value: 'skip' as const, label: 'Skip it' }]),
    ],
    initial: current === undefined ? 'pieces' : 'json',
  })
  if (way === 'skip') return undefined
  if (way === 'none') return []
  if (way === 'json') {
    const initial = current === undefined ? undefined : JSON.stringify(current)
    return askText(prompter, `${label}, as JSON`, { type, initial, help })
  }
  return type === 'array' ? askItems(prompter, label) : askPairs(prompter, label)
}

async function askItems(prompter: Prompter, label: string): Promise<FieldValue> {
  const kind = await prompter.select({ message: `${label}: what is each item?`, choices: kinds })
  const items: FieldValue[] = []
  do {
    items.push(await askPiece(prompter, `${label}, item ${String(items.length + 1)}`, kind))
  } while (await prompter.confirm({ message: `Add another item to ${label}?` }))
  return items
}

async function askPairs(prompter: Prompter, label: string): Promise<FieldValue> {
  const pairs = Object.create(null) as Record<string, FieldValue>
  do {
    const name = await prompter.text({
      message: `${label}, name ${String(Object.keys(pairs).length + 1)}`,
      check: (text) => {
        if (text === '') return 'is empty; give the value a name'
        return Object.hasOwn(pairs, text) ? 'is already there' : undefined
      },
    })
    const kind = await prompter.select({ message: `${label}, ${name}: what is it?`, choices: kinds })
    pairs[name] = await askPiece(prompter, `${label}, ${name}`, kind)
  } while (await prompter.confirm({ message: `Add another name and value to ${label}?` }))
  return pairs
}

function askPiece(prompter: Prompter, label: string, kind: Kind): Promise<FieldValue> {
  if (kind === 'array') return askItems(prompter, label)
  if (kind === 'object') return askPairs(prompter, label)
  return askText(prompter, label, { type: kind })
}

async function askText(
  prompter: Prompter,
  message: string,
  { type, initial, help }: { type: Kind; initial?: string | undefined; help?: string | undefined },
): Promise<FieldValue> {
  const read = (text: string) => readFieldText({ type, required: true, description: '' }, text)
  const text = await prompter.text({ message, initial, help, check: (given) => read(given).problem })
  return read(text).value ?? null
}
