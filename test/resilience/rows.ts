/** A fault or an attack, and what the program has to do then. Its tests are those that call `recordForFaultTable` with its id. */
interface Fault {
  fault: string
  expectedBehaviour: string
}

export const faults = {
  kill: {
    fault: 'SIGKILL at any moment',
    expectedBehaviour: 'nobody ordered twice, nothing lost, one unknown outcome for each kill',
  },
  'power-loss': { fault: 'power loss', expectedBehaviour: 'the journal is on disk before a POST' },
  disk: {
    fault: 'a flush that fails, a full disk',
    expectedBehaviour: 'sends nothing more and reports it; the store is sound',
  },
  cut: { fault: 'network cut after any byte', expectedBehaviour: 'nothing is sent again' },
  'two-runners': { fault: 'two runners on one file or person', expectedBehaviour: 'one order a person' },
  machines: { fault: 'several machines on one database', expectedBehaviour: 'one order a person, one quota' },
  'retry-after': { fault: 'a Retry-After of any kind', expectedBehaviour: 'no repetition without a pause' },
  clock: { fault: 'clock jumps', expectedBehaviour: 'nothing is sent too early' },
  halt: {
    fault: 'key, user or credits gone in a batch',
    expectedBehaviour: 'the batch halts; rows stay pending',
  },
  redirect: { fault: 'a redirect', expectedBehaviour: 'never followed with a key or a body' },
  'report-url': {
    fault: 'a report URL that leads elsewhere',
    expectedBehaviour: 'refused before a connection',
  },
  'plain-http': { fault: 'http, TLS checks switched off', expectedBehaviour: 'refused except for loopback' },
  modes: { fault: 'umask 000, loose modes', expectedBehaviour: 'files 0600, folders 0700' },
  swapped: {
    fault: 'links swapped in, files half written',
    expectedBehaviour: 'nothing is written outside, and no partial file is left',
  },
  names: { fault: 'hostile names of reports', expectedBehaviour: 'made safe' },
  'answer-limits': {
    fault: 'answers that are huge, endless, slow, packed',
    expectedBehaviour: 'ended by a limit',
  },
  workbooks: { fault: 'workbooks that unpack without end', expectedBehaviour: 'refused early' },
  tables: { fault: 'tables with very many sheets, attributes or rows', expectedBehaviour: 'refused early' },
  formulas: {
    fault: 'formulas in exported cells',
    expectedBehaviour: 'neutralised; the same text is read back',
  },
  escapes: {
    fault: 'escapes, bidi, NUL from the service',
    expectedBehaviour: 'harmless on a terminal, exact in JSON',
  },
  prototype: { fault: '__proto__ as a name', expectedBehaviour: 'a name like any other' },
  redos: { fault: 'texts of 100 KB matched by every regular expression', expectedBehaviour: 'under 50 ms' },
  forged: { fault: 'forged deliveries', expectedBehaviour: 'refused' },
  'refused-flood': {
    fault: 'forged deliveries without an end',
    expectedBehaviour: 'ten log lines, then one line a minute with the number of refused deliveries',
  },
  'receiver-killed': {
    fault: 'a receiver killed under load',
    expectedBehaviour: 'nothing acknowledged is lost',
  },
  'at-rest': { fault: 'personal data after a purge', expectedBehaviour: 'in no file' },
  supply: {
    fault: 'npm packages that are installed as dependencies',
    expectedBehaviour: 'locked, named, licensed',
  },
  replaced: {
    fault: 'one file ordered for a package and for the package that replaced it',
    expectedBehaviour: 'nobody ordered under both',
  },
  similar: { fault: 'a corrected or swapped spelling', expectedBehaviour: 'held until a user decides' },
  'store-rolled-back': {
    fault: 'a store restored from an older copy',
    expectedBehaviour: 'closed until a user accepts it',
  },
  'colleagues-results': {
    fault: 'a colleague’s results as input',
    expectedBehaviour: 'nobody ordered twice',
  },
  'second-name': { fault: 'a store opened under a second file name', expectedBehaviour: 'refused' },
  mixed: { fault: 'an answer about another request', expectedBehaviour: 'nothing of it is shown or stored' },
  services: {
    fault: 'two services or sandboxes on one store',
    expectedBehaviour: 'their data is never mixed',
  },
  echo: {
    fault: 'keys, secrets, tokens and passwords sent back in any encoding',
    expectedBehaviour: 'replaced before they are shown or stored',
  },
  planted: {
    fault: 'links, FIFOs, other accounts’ files where we write',
    expectedBehaviour: 'never followed',
  },
  children: {
    fault: 'programs that we start',
    expectedBehaviour: 'no secret of any profile in their environment',
  },
  'shared-folder': { fault: 'a store where others may write', expectedBehaviour: 'a warning; doctor fails' },
  'given-folder': {
    fault: 'a given folder that exists already',
    expectedBehaviour: 'its mode stays; refused where others may write',
  },
  'parent-folder': {
    fault: 'an account that owns a folder above ours',
    expectedBehaviour: 'no file in it is run or trusted',
  },
  codes: { fault: 'terminal codes through --csv and --json', expectedBehaviour: 'none reaches the terminal' },
  lines: {
    fault: 'line breaks and invisible characters in texts of the service',
    expectedBehaviour: 'one line, shown visibly',
  },
  'input-limits': { fault: 'nested, packed or huge input to any reader', expectedBehaviour: 'refused early' },
  idle: {
    fault: '1,000 idle connections to a receiver or sandbox',
    expectedBehaviour: 'deliveries are answered',
  },
  incomplete: {
    fault: 'withheld and large bodies at every server',
    expectedBehaviour: 'other requests are answered',
  },
  'purge-read': {
    fault: 'a purge while another process reads',
    expectedBehaviour: 'the output says that it is not yet complete',
  },
  container: {
    fault: 'a locked-down container',
    expectedBehaviour: 'works with what is given, or says what fails',
  },
  poison: {
    fault: 'an event that is always refused',
    expectedBehaviour: 'given up after its retries; other events do not wait for it',
  },
  upgrade: {
    fault: 'an upgrade under a long-lived command',
    expectedBehaviour: 'it continues with the code that it started with',
  },
  report: { fault: 'a bundle for a bug report', expectedBehaviour: 'nothing personal in it' },
  parsers: { fault: 'random input to every parser', expectedBehaviour: 'read or refused' },
  screens: {
    fault: 'data that imitates lines of a screen',
    expectedBehaviour: 'blanks collapsed, long names cut, and the question repeats the name of the person',
  },
  agents: {
    fault: 'error messages that would show an agent the content of a file',
    expectedBehaviour: 'they contain no cell, column or sheet name',
  },
  'bad-input': { fault: 'bad input to every command', expectedBehaviour: 'one clear line, nothing sent' },
  canary: {
    fault: 'key, secret or token where it may be seen',
    expectedBehaviour: 'shown and stored nowhere',
  },
} as const satisfies Record<string, Fault>

export type FaultId = keyof typeof faults
