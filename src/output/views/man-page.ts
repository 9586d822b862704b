import { type CommandManifest, examplesOf, globalFlags, isOurs, ownFlags, valueOf } from './reference.ts'

/** The manual page refcheck(1) in roff, of the same source as the reference; `pages`: prepared pages of help, whole. */
export function manPage(
  version: string,
  manifest: Readonly<Record<string, CommandManifest>>,
  pages: readonly string[],
): string {
  const commands = Object.entries(manifest).filter(([id, { hidden }]) => isOurs(id) && hidden !== true)
  const lines = [
    `.TH REFCHECK 1 "" "refcheck ${version}" "User Commands"`,
    '.SH NAME',
    String.raw`refcheck \- order background and reference checks, follow them, and download the reports`,
    '.SH SYNOPSIS',
    String.raw`.B refcheck`,
    String.raw`.I COMMAND`,
    '[FLAGS]',
    '.SH FLAGS OF EVERY COMMAND',
    ...globalFlags(manifest).flatMap(flagLines),
    '.SH COMMANDS',
    ...commands.flatMap(([id, command]) => commandLines(id.replaceAll(':', ' '), command)),
    ...pages.flatMap(pageLines),
    '.SH SEE ALSO',
    escaped('refcheck help PAGE prints a page on orders, batches, files, safety and more.'),
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(name: string, command: CommandManifest): string[] {
  const args = Object.values(command.args).map((arg) =>
    arg.required === true ? arg.name.toUpperCase() : `[${arg.name.toUpperCase()}]`,
  )
  const examples = examplesOf(command)
  return [
    `.SS "refcheck ${escaped([name, ...args].join(' '))}"`,
    escaped(`${command.summary ?? ''}.`),
    ...(command.description ?? '')
      .split('\n\n')
      .flatMap((part) => (part === '' ? [] : ['.PP', escaped(part)])),
    ...ownFlags(command).flatMap(flagLines),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', ...literal(examples)]),
  ]
}

function flagLines(flag: Parameters<typeof valueOf>[0]): string[] {
  const value = flag.type === 'boolean' ? '' : ` ${valueOf(flag)}`
  return ['.TP', `.B ${escaped(`--${flag.name}${value}`)}`, escaped(flag.summary ?? flag.description ?? '')]
}

/** A page of help as it stands: its title as a section, the rest unfilled. */
function pageLines(page: string): string[] {
  const [title = '', ...rest] = page.trimEnd().split('\n')
  return [`.SH ${escaped(title)}`].concat(literal(rest.map((line) => line.replace(/^ {2}/, ''))))
}

const literal = (lines: readonly string[]): string[] => ['.nf', ...lines.map(escaped), '.fi']

/** As roff prints it letter by letter: what it could take for a request, an escape or another dash is told apart. */
function escaped(line: string): string {
  return line
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`)
    .replace(/^\./, String.raw`\&.`)
}
