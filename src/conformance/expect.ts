import type { Answer } from './answer.ts'

/** One of these statuses. */
export function expectStatus(answer: Answer, ...statuses: number[]): string[] {
  return statuses.includes(answer.status)
    ? []
    : [`${answer.label}: expected ${statuses.join(' or ')}, ${answer.summary}`]
}

/** A 400 whose message names the field, as in "`<field path>: <reason>`"; by any of these paths. */
export function expectRefusedField(answer: Answer, ...paths: string[]): string[] {
  const wrong = expectStatus(answer, 400)
  if (wrong.length > 0) return wrong
  const [named = '', reason = ''] = (answer.message ?? '').split(/:\s(.*)/s)
  if (reason.trim() !== '' && paths.map(withoutIndexes).includes(withoutIndexes(named))) return []
  return [`${answer.label}: expected the message "${paths[0]}: <reason>", ${answer.summary}`]
}

/** `a[0].b`, `a.0.b` and `a[].b` are ways to write the same place. */
function withoutIndexes(path: string): string {
  return path.replaceAll(/\[\d*\]|\.\d+(?=\.|$)/g, '[]')
}

/** "Content-Type application/pdf, binary PDF body". */
export function expectPdf(answer: Answer): string[] {
  const wrong = expectStatus(answer, 200)
  if (wrong.length > 0) return wrong
  const findings: string[] = []
  if (answer.type !== 'application/pdf') {
    findings.push(
      `${answer.label}: expected Content-Type application/pdf, got ${answer.header('content-type') ?? 'none'}`,
    )
  }
  const start = answer.bytes.subarray(0, 5).toString('latin1')
  const end = answer.bytes.subarray(-1024).toString('latin1')
  if (start !== '%PDF-' || !end.includes('%%EOF'))
    findings.push(`${answer.label}: the body is not a complete PDF`)
  return findings
}

/** A value of the answer against what it has to be. */
export function expectSame(label: string, value: unknown, expected: unknown): string[] {
  const [got, wanted] = [JSON.stringify(value), JSON.stringify(expected)]
  return got === wanted ? [] : [`${label}: expected ${wanted}, got ${got ?? 'nothing'}`]
}
