import type { View } from '../view.ts'

/** The parts of a command in oclif's manifest that the reference shows. */
export interface CommandManifest {
  summary?: string
  description?: string
  examples?: (string | { command: string; description?: string })[]
  hidden?: boolean
  args: Record<
    string,
    { name: string; description?: string; required?: boolean; multiple?: boolean; options?: string[] }
  >
  flags: Record<string, FlagManifest>
}

interface FlagManifest {
  name: string
  char?: string
  summary?: string
  description?: string
  type: 'boolean' | 'option'
  helpValue?: string | string[]
  helpGroup?: string
  options?: string[]
  multiple?: boolean
  required?: boolean
  default?: unknown
  exclusive?: string[]
}

/**
 * Returns true if the reference describes a command. `help` comes with oclif, and only completion scripts
 * call `complete`.
 */
const isDocumented = (id: string): boolean => !/^(help|complete)$/.test(id)

/** Shows every command, flag and exit code, as Markdown for people and as JSON with schemas for programs. */
export function referenceView(
  version: string,
  manifest: Readonly<Record<string, CommandManifest>>,
  exitCodes: Readonly<Record<string, number>>,
  schemas: Readonly<Record<string, object>>,
): View {
  const commands = Object.entries(manifest)
    .filter(([id]) => isDocumented(id))
    .map(([id, command]) => ({ name: id.replaceAll(':', ' '), command }))
  const global = globalFlags(manifest)
  return {
    json: {
      version,
      exit_codes: exitCodes,
      global_flags: global.map(flagJson),
      commands: commands.map(({ name, command }) => ({
        name,
        summary: command.summary ?? '',
        description: command.description ?? '',
        args: Object.values(command.args).map((arg) => ({
          name: arg.name,
          description: arg.description ?? '',
          required: arg.required === true,
        })),
        flags: ownFlags(command).map(flagJson),
        examples: examplesOf(command),
        output_schema: schemas[name] ?? null,
      })),
    },
    text: () =>
      [
        '# refcheck reference',
        `Every command of refcheck ${version}. Made by \`refcheck reference\`; do not edit.`,
        '## Flags of every command',
        flagTable(global),
        '## Exit codes',
        table(
          ['code', 'error.code'],
          Object.entries(exitCodes).map(([code, exit]) => [String(exit), `\`${code}\``]),
        ),
        ...commands.map(({ name, command }) => commandText(name, command)),
      ].join('\n\n'),
    isVerbatim: true,
  }
}

const isGlobal = ({ helpGroup }: FlagManifest): boolean => helpGroup === 'GLOBAL'

const ownFlags = ({ flags }: CommandManifest): FlagManifest[] =>
  Object.values(flags).filter((flag) => !isGlobal(flag))

/** Returns the flags that every command has. */
function globalFlags(manifest: Readonly<Record<string, CommandManifest>>): FlagManifest[] {
  const firstCommand = Object.entries(manifest).find(([id]) => isDocumented(id))
  return Object.values(firstCommand?.[1].flags ?? {}).filter(isGlobal)
}

const examplesOf = ({ examples = [] }: CommandManifest): string[] =>
  examples.map((each) =>
    (typeof each === 'string' ? each : each.command).replaceAll('<%= config.bin %>', 'refcheck'),
  )

function flagJson(flag: FlagManifest) {
  const { name, summary, description, type, options, multiple, required } = flag
  return {
    name: `--${name}`,
    summary: summary ?? description ?? '',
    value: type === 'boolean' ? null : valuePlaceholder(flag),
    options: options ?? null,
    multiple: multiple === true,
    required: required === true,
    default: flag.default ?? null,
  }
}

function valuePlaceholder({ helpValue, options }: FlagManifest): string {
  if (options !== undefined) return options.join('|')
  return [helpValue ?? 'VALUE'].flat().join(' ')
}

const formatArguments = ({ args }: CommandManifest): string[] =>
  Object.values(args).map(({ name, required }) =>
    required === true ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  )

function commandText(name: string, command: CommandManifest): string {
  const flags = ownFlags(command)
  const examples = examplesOf(command)
  const parts = [
    `## refcheck ${name}`,
    `${command.summary ?? ''}.`,
    command.description ?? '',
    fence(
      ['refcheck', name, ...formatArguments(command), ...(flags.length === 0 ? [] : ['[FLAGS]'])].join(' '),
    ),
    flags.length === 0 ? '' : flagTable(flags),
    examples.length === 0 ? '' : fence(examples.join('\n')),
    `JSON: \`refcheck reference --output-schema '${name}'\``,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

const fence = (text: string): string => `\`\`\`sh\n${text}\n\`\`\``

function flagTable(flags: readonly FlagManifest[]): string {
  return table(
    ['flag', 'meaning'],
    flags.map((flag) => {
      const value = flag.type === 'boolean' ? '' : ` ${valuePlaceholder(flag)}`
      const defaultText = typeof flag.default === 'string' ? ` (default: ${flag.default})` : ''
      const suffix = flag.required === true ? ' (required)' : defaultText
      return [`\`--${flag.name}${value}\``, `${flag.summary ?? flag.description ?? ''}${suffix}`]
    }),
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/**
 * Returns the manual page refcheck(1) in roff, from the same manifest as the reference. `pages` are the texts
 * of help pages.
 */
export function manPage(
  version: string,
  manifest: Readonly<Record<string, CommandManifest>>,
  pages: readonly string[],
): string {
  const commands = Object.entries(manifest).filter(([id, { hidden }]) => isDocumented(id) && hidden !== true)
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
    escapeRoff('refcheck help PAGE prints a page on orders, batches, files, safety and more.'),
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(name: string, command: CommandManifest): string[] {
  const examples = examplesOf(command)
  return [
    `.SS "refcheck ${escapeRoff([name, ...formatArguments(command)].join(' '))}"`,
    escapeRoff(`${command.summary ?? ''}.`),
    ...(command.description ?? '')
      .split('\n\n')
      .flatMap((part) => (part === '' ? [] : ['.PP', escapeRoff(part)])),
    ...ownFlags(command).flatMap(flagLines),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', ...preformatted(examples)]),
  ]
}

function flagLines(flag: FlagManifest): string[] {
  const value = flag.type === 'boolean' ? '' : ` ${valuePlaceholder(flag)}`
  return [
    '.TP',
    `.B ${escapeRoff(`--${flag.name}${value}`)}`,
    escapeRoff(flag.summary ?? flag.description ?? ''),
  ]
}

/** Returns a help page in roff. The title is the name of a section, and the other lines are not refilled. */
function pageLines(page: string): string[] {
  const [title = '', ...otherLines] = page.trimEnd().split('\n')
  return [`.SH ${escapeRoff(title)}`].concat(
    preformatted(otherLines.map((line) => line.replace(/^ {2}/, ''))),
  )
}

const preformatted = (lines: readonly string[]): string[] => ['.nf', ...lines.map(escapeRoff), '.fi']

/** Escapes a line so that roff prints it unchanged: backslashes, dashes, quotes, and a dot at its start. */
function escapeRoff(line: string): string {
  return line
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`)
    .replace(/^\./, String.raw`\&.`)
}
