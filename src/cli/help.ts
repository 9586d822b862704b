import { stripVTControlCharacters } from 'node:util'

import { CommandHelp, Help } from '@oclif/core/help'

import { terminalOf } from '../output/terminal.ts'
import { currentContext } from '../app/context.ts'
import { commandNames, unknownHelpError } from './suggest.ts'
import { pageNames, topicPage } from './topic-pages.ts'

/**
 * USAGE lines of the commands whose arguments and flags exclude each other. The flags of all other commands
 * can be combined.
 */
export const usageLines: Readonly<Record<string, readonly string[]>> = {
  'batch reconcile': [
    '[BATCH_ID] [--events FILE] [FLAGS]',
    'BATCH_ID --row N [--request-id UUID | --confirm-email EMAIL | --drop] [FLAGS]',
    '--acknowledge UUID [FLAGS]',
  ],
  'batch release': [
    'BATCH_ID --row N... [FLAGS]',
    'BATCH_ID --shared VALUE [FLAGS]',
    'BATCH_ID --all [FLAGS]',
  ],
  'batch queue': ['FILE [FLAGS]', '--plan FILE [FLAGS]'],
  'batch run': ['FILE [FLAGS]', '--plan FILE [FLAGS]'],
  'report download': [
    'CHECK_ID [--referee ID] [FLAGS]',
    '--request UUID... [FLAGS]',
    '--batch BATCH_ID [FLAGS]',
    '--all-completed [--since DATE] [FLAGS]',
    '--url SIGNED_URL [FLAGS]',
  ],
  'request create': ['[FLAGS]', '--file FILE [FLAGS]'],
  'sandbox conformance': ['[--profile NAME | --base-url URL] [FLAGS]'],
  'sandbox inject': ['SCENARIO [FLAGS]', '--on CALLS --fault JSON [FLAGS]', '--clear [FLAGS]'],
  'store purge': ['--email EMAIL [FLAGS]', '--request-id UUID [FLAGS]', '--older-than DATE [FLAGS]'],
  'webhook send': ['--to URL [--status STATUS] [FLAGS]', '--to URL --out-of-order [FLAGS]'],
  'webhook verify': [
    '[FILE] --signature HEX [FLAGS]',
    '--http FILE [FLAGS]',
    '--har FILE [FLAGS]',
    '[FILE] --all [FLAGS]',
  ],
  worker: ['[--profile NAME | --profiles NAMES] [FLAGS]'],
}

/** The page of `refcheck help`: first the five most common tasks, then the names of all commands and pages. */
const rootPage = `Order background and reference checks, follow them, and download the reports.

USAGE
  $ refcheck COMMAND [FLAGS]

START HERE
  refcheck sandbox demo             See the whole job in ten seconds
  refcheck auth login               Log in with your API key
  refcheck request create           Order checks on one person, step by step
  refcheck batch run FILE           Order checks for every person in a file
  refcheck report sync              Download all finished reports

COMMANDS
  api  approve  auth  batch  completion  config  doctor  mcp  packages  ping
  quota  reference  report  request  sandbox  schema  status  store  users
  webhook  worker

  refcheck help batch               Show a topic; one command: batch run --help

PAGES (refcheck help PAGE)
  ${pageNames.slice(0, 8).join('  ')}
  ${pageNames.slice(8).join('  ')}
`

/** Writes oclif's help to the streams of the context, without colours if stdout does not show them. */
export default class StreamedHelp extends Help {
  protected override CommandHelpClass = PlainCommandHelp

  override async showHelp(argv: string[]): Promise<void> {
    const words = argv
      .filter((arg) => !arg.startsWith('-') && arg !== 'help')
      .flatMap((arg) => arg.split(':'))
    const page = words.length === 1 ? topicPage(words[0] ?? '') : undefined
    if (page !== undefined) this.log(page)
    // `sandbox` is a page and a topic: oclif's help for its commands follows the page.
    if (page !== undefined && this.config.findTopic(words[0] ?? '') === undefined) return
    try {
      await super.showHelp(argv)
    } catch (error) {
      if (!(error instanceof Error) || !/^Command .* not found\.$/s.test(error.message)) throw error
      throw unknownHelpError(words, commandNames(this.config), pageNames)
    }
  }

  protected override async showRootHelp(): Promise<void> {
    this.log(rootPage)
  }

  protected override log(...lines: string[]): void {
    const { streams, env } = currentContext()
    const text = `${lines.join(' ')}\n`
    const { color } = terminalOf(streams.stdout, env, false)
    streams.stdout.write(color ? text : stripVTControlCharacters(text))
  }
}

class PlainCommandHelp extends CommandHelp {
  protected override usage(): string {
    const { id } = this.command
    const lines = usageLines[id.replaceAll(':', ' ')] ?? [this.defaultUsageLine()]
    this.command.usage = lines.map((line) => `<%= command.id %> ${line}`)
    return super.usage()
  }

  /** Returns the usage line: arguments (optional ones in brackets), required flags, and [FLAGS]. */
  private defaultUsageLine(): string {
    const { args, flags } = this.command
    const names = Object.values(args).map(({ name, required, multiple }) => {
      const label = `${name.toUpperCase()}${multiple === true ? '...' : ''}`
      return required === true ? label : `[${label}]`
    })
    const requiredFlags = Object.values(flags)
      .filter((flag) => flag.required === true)
      .map((flag) => `--${flag.name} ${flag.type === 'option' ? String(flag.helpValue ?? 'VALUE') : ''}`)
    return [...names, ...requiredFlags, '[FLAGS]'].join(' ')
  }

  /** Returns the description without the summary, which is at the top of the page. */
  protected override description(): string | undefined {
    const { description } = this.command
    return description === undefined ? undefined : this.wrap(description)
  }
}
