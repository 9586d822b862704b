import type { FieldValue } from '../../contract/request-body.ts'
import { partsIn, partsOfItems } from '../../domain/form/parts.ts'
import { readFieldText } from '../../domain/form/field-value.ts'
import { groupOf, isGroup, isJson, readItems, readPair, readWhole } from '../../domain/form/pieces.ts'
import { valueInWords } from '../../domain/form/review.ts'
import { PromptBackError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

export interface StructureQuestion {
  type: 'array' | 'object'
  label: string
  required: boolean
  /** The schema's own words, which may list the parts. */
  description: string
  help: string
  /** What stands there now. */
  current?: FieldValue | undefined
  canGoBack?: boolean | undefined
}

/**
 * Asks for a list item by item, or a group part by part, in the words of its description; undefined where an optional
 * one is skipped. JSON given at the first question is the whole answer.
 */
export async function askStructure(
  prompter: Prompter,
  question: StructureQuestion,
): Promise<FieldValue | undefined> {
  const { type, description } = question
  if (type === 'object') {
    const parts = partsIn(description)
    return parts.length === 0 ? askPairs(prompter, question) : askParts(prompter, question, parts)
  }
  const parts = partsOfItems(description)
  return parts.length === 0 ? askItems(prompter, question) : askGroups(prompter, question, parts)
}

interface Turn {
  at: number
  canGoBack: boolean
}

/** One question after the other; `ask` answers which is next, if any. Going back leads to the one before. */
async function inTurn(
  { canGoBack, from = 0 }: { canGoBack: boolean | undefined; from?: number },
  ask: (turn: Turn) => Promise<number | undefined>,
): Promise<void> {
  for (let at = from; ;) {
    try {
      const next = await ask({ at, canGoBack: at > 0 || canGoBack === true })
      if (next === undefined) return
      at = next
    } catch (error) {
      if (!(error instanceof PromptBackError) || at === 0) throw error
      at -= 1
    }
  }
}

const sentences = (...parts: (string | false)[]): string =>
  parts.filter((part) => part !== false && part !== '').join(' ')

async function askParts(
  prompter: Prompter,
  { type, label, required, help, current, canGoBack }: StructureQuestion,
  parts: readonly string[],
  from = 0,
): Promise<FieldValue | undefined> {
  const given = new Map(isGroup(current) ? Object.entries(current) : [])
  let whole: FieldValue | undefined
  await inTurn({ canGoBack, from }, async (turn) => {
    const { at } = turn
    const part = parts[at] ?? ''
    const isLast = at === parts.length - 1
    const now = given.get(part)
    const initial = now === undefined ? undefined : valueInWords(now)
    const needed = required && isLast && [...given.keys()].every((name) => name === part)
    const isWhole = (text: string): boolean => at === 0 && isJson(type, text)
    const text = await prompter.text({
      message: `${label}, ${part.replaceAll('_', ' ')} (part ${at + 1} of ${parts.length})`,
      initial,
      help: sentences(at === 0 && help, 'Press Enter to leave this part out.'),
      canGoBack: turn.canGoBack,
      check(typed) {
        if (isWhole(typed)) return readWhole(type, typed).problem
        return typed === '' && needed ? 'is empty, but at least one part is required' : undefined
      },
    })
    if (isWhole(text)) {
      whole = readWhole(type, text).value
      return undefined
    }
    if (text === '') given.delete(part)
    else if (text !== initial) given.set(part, text)
    return isLast ? undefined : at + 1
  })
  return whole ?? (given.size === 0 ? undefined : groupOf(given))
}

/** What is asked line by line until one is left empty. */
interface Lines<Piece> {
  noun: string
  help: string
  /** At least one is needed. */
  isNeeded: boolean
  toText: (piece: Piece) => string
  /** The pieces of one line, or why there are none. */
  read: (text: string, others: readonly Piece[]) => { pieces: Piece[] } | { problem: string }
}

/** The pieces, or a whole answer in JSON. */
async function askLines<Piece>(
  prompter: Prompter,
  { type, label, required, help, canGoBack }: StructureQuestion,
  pieces: Piece[],
  lines: Lines<Piece>,
): Promise<FieldValue | undefined> {
  let whole: FieldValue | undefined
  await inTurn({ canGoBack }, async (turn) => {
    const { at } = turn
    const now = pieces[at]
    const initial = now === undefined ? undefined : lines.toText(now)
    const others = pieces.filter((_, other) => other !== at)
    const isWhole = (text: string): boolean => at === 0 && isJson(type, text)
    const read = (text: string) => lines.read(text, others)
    const text = await prompter.text({
      message: `${label}, ${lines.noun} ${at + 1}${at === 0 ? ` (${required ? 'required' : 'optional'})` : ''}`,
      initial,
      help: sentences(at === 0 && help, lines.help),
      canGoBack: turn.canGoBack,
      check(typed) {
        if (isWhole(typed)) return readWhole(type, typed).problem
        if (typed === '') return lines.isNeeded && others.length === 0 ? 'is empty, but required' : undefined
        const reading = read(typed)
        return 'problem' in reading ? reading.problem : undefined
      },
    })
    if (isWhole(text)) {
      whole = readWhole(type, text).value
      return undefined
    }
    if (text === initial) return at + 1
    const reading = text === '' ? { pieces: [] } : read(text)
    const found = 'pieces' in reading ? reading.pieces : []
    pieces.splice(at, 1, ...found)
    // An emptied line is taken away, and what stood below it is asked for next.
    return found.length > 0 || at < pieces.length ? at + found.length : undefined
  })
  return whole
}

async function askItems(prompter: Prompter, question: StructureQuestion): Promise<FieldValue | undefined> {
  const { current } = question
  const items = Array.isArray(current) ? [...current] : []
  const whole = await askLines<FieldValue>(prompter, question, items, {
    noun: 'item',
    isNeeded: false,
    help: 'Press Enter when there are no more.',
    toText: valueInWords,
    read(text) {
      const { items: pieces, problem } = readItems(text)
      return problem === undefined ? { pieces } : { problem }
    },
  })
  return whole ?? (items.length > 0 ? items : none(prompter, question))
}

/** A required list may be empty all the same, where a person says so; an optional one is skipped. */
async function none(prompter: Prompter, question: StructureQuestion): Promise<FieldValue | undefined> {
  if (!question.required) return undefined
  if (await prompter.confirm({ message: `${question.label}: none at all?` })) return []
  return askItems(prompter, question)
}

async function askPairs(prompter: Prompter, question: StructureQuestion): Promise<FieldValue | undefined> {
  const { current, required } = question
  const pairs = isGroup(current) ? Object.entries(current) : []
  const whole = await askLines<[string, FieldValue]>(prompter, question, pairs, {
    noun: 'name and value',
    isNeeded: required,
    help: 'Such as street: 12 High Street. Press Enter when there are no more.',
    toText: ([name, value]) => `${name}: ${valueInWords(value)}`,
    read(text, others) {
      const { pair, problem } = readPair(
        text,
        others.map(([name]) => name),
      )
      return problem === undefined ? { pieces: [pair] } : { problem }
    },
  })
  return whole ?? (pairs.length > 0 ? groupOf(pairs) : undefined)
}

/** A list whose items have parts: each asked part by part. Back leads to the part before, or to whether there is one. */
async function askGroups(
  prompter: Prompter,
  question: StructureQuestion,
  parts: readonly string[],
): Promise<FieldValue | undefined> {
  const { label, required, current, canGoBack = false } = question
  const groups: FieldValue[] = Array.isArray(current) ? [...current] : []
  let at = 0
  let asked: 'whether' | 'parts' | 'last part' = 'whether'
  for (;;) {
    try {
      if (asked === 'whether') {
        const isThere = groups[at] !== undefined
        if (!(await askWhether(prompter, { label, at, isThere, canGoBack: at > 0 || canGoBack }))) break
        asked = 'parts'
      } else {
        const item = {
          ...question,
          type: 'object',
          label: `${label}, item ${at + 1}`,
          required: true,
        } as const
        const from = asked === 'last part' ? parts.length - 1 : 0
        const group = await askParts(prompter, { ...item, current: groups[at], canGoBack: true }, parts, from)
        if (group !== undefined) groups[at] = group
        at += 1
        asked = 'whether'
      }
    } catch (error) {
      if (!(error instanceof PromptBackError) || (asked === 'whether' && at === 0)) throw error
      if (asked === 'whether') at -= 1
      asked = asked === 'whether' ? 'last part' : 'whether'
    }
  }
  groups.splice(at)
  return groups.length > 0 || required ? groups : undefined
}

/** A yes or no that leads back as every question of a form does. */
async function askWhether(
  prompter: Prompter,
  { label, at, isThere, canGoBack }: { label: string; at: number; isThere: boolean; canGoBack: boolean },
): Promise<boolean> {
  const answer = await prompter.text({
    message: `${label}: ${at === 0 ? 'is there one' : 'another one'}? (y/N)`,
    initial: isThere ? 'yes' : undefined,
    canGoBack,
    check: (typed) => (typed === '' ? undefined : readYes(typed).problem),
  })
  return answer !== '' && readYes(answer).value === true
}

const readYes = (typed: string) => readFieldText({ type: 'boolean', required: true, description: '' }, typed)
