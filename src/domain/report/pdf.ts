import { UnavailableError } from '../../errors/kinds.ts'

export const headMark = '%PDF-'

export const endMark = '%%EOF'

/** Where readers look for the end mark (ISO 32000-1, implementation note 18 of its PDF 1.7 predecessor). */
export const tailBytes = 1024

export function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

export function notPdf(why: string): UnavailableError {
  return new UnavailableError(`the report is not a complete PDF: ${why}`, {
    hint: 'Nothing was stored. Try again in a moment.',
  })
}
