import { expect } from 'vitest'
import { z } from 'zod'

import { answers, jsonLinesCommands } from '../../src/output/schemas/answers.ts'
import { documentSchemaOf } from '../../src/output/schemas/document.ts'

/** The schemas of the JSON output, by command. */
const documentSchemas = new Map(
  Object.entries(answers).map(([name, answer]) => [name, documentSchemaOf(answer)]),
)
/** The schema of the document that a failed command prints. */
const errorDocumentSchema = documentSchemaOf(z.never())

/**
 * Expects that the JSON output of a command fits the schema that `reference --output-schema` prints for it.
 */
export function expectDescribed(argv: readonly string[], stdout: string): void {
  const endOfFlags = argv.indexOf('--')
  const argumentsBeforeEnd = endOfFlags === -1 ? argv : argv.slice(0, endOfFlags)
  if (!argumentsBeforeEnd.includes('--json') || argumentsBeforeEnd.includes('--help') || stdout === '') return
  const command = [3, 2, 1]
    .map((length) => argv.slice(0, length).join(' '))
    .find((name) => documentSchemas.has(name))
  const printedDocuments = jsonLinesCommands.includes(command ?? '') ? splitDocuments(stdout) : [stdout]
  for (const text of printedDocuments) {
    const { error } = (documentSchemas.get(command ?? '') ?? errorDocumentSchema).safeParse(JSON.parse(text))
    expect(
      error === undefined
        ? ''
        : `${command ?? `${argv.join(' ')} is not in src/output/schemas/answers.ts`}: ${z.prettifyError(error)}\n${text}`,
    ).toBe('')
  }
}

/**
 * Returns the JSON documents of a command that prints one per line. After a failure such a command prints one
 * document of several lines.
 */
function splitDocuments(stdout: string): string[] {
  return /^(?:\{\n|\[)/.test(stdout) ? [stdout] : stdout.trimEnd().split('\n')
}
