import { UsageError } from '../../errors/kinds.ts'

/**
 * The format of a file that is written: as asked for, else as its name ends, else CSV (also for a name without an ending, or
 * with `.txt`). Throws a UsageError for a name that ends otherwise, and for one that contradicts what was asked for.
 * `what` is written, as messages say it: "a template".
 */
export function writtenFormat<Format extends string>(
  what: string,
  formats: readonly (Format | 'csv')[],
  { asked, output }: { asked: Format | undefined; output: string | undefined },
): Format | 'csv' {
  const ending = /[^./\\]\.([a-z\d]+)$/i.exec(output ?? '')?.[1]?.toLowerCase()
  const named = formats.find((format) => format === (ending === 'htm' ? 'html' : ending))
  if (asked !== undefined && named !== undefined && asked !== named) {
    throw new UsageError(`--format ${asked} contradicts --output ${output ?? ''}`, {
      hint: `Leave out --format, or give a name that ends in .${asked}.`,
    })
  }
  if (asked === undefined && ending !== undefined && named === undefined && ending !== 'txt') {
    const endings = formats.map((format) => `.${format}`)
    throw new UsageError(`--output ${output ?? ''}: ${what} cannot be written as .${ending}`, {
      hint: `Give a name that ends in ${endings.slice(0, -1).join(', ')} or ${endings.at(-1)}, or add --format.`,
    })
  }
  return asked ?? named ?? 'csv'
}
