/** A fault or an attack, and what the program has to do then. Its tests are those that call `recordForFaultTable` with its id. */
interface Fault {
  fault: string
  expectedBehaviour: string
}

export const faults = {
  kill: {
    fault: 'SIGKILL at any moment',
    expectedBehaviour: 'nobody twice, nothing lost, one unknown a kill',
  },
  'power-loss': { fault: 'power loss', expectedBehaviour: 'the journal is on disk before a POST' },
  disk: {
    fault: 'a flush that fails, a full disk',
    expectedBehaviour: 'sends nothing more, says so, the store is sound',
  },
  cut: { fault: 'network cut after any byte', expectedBehaviour: 'nothing is sent again' },
  'two-runners': { fault: 'two runners on one file or person', expectedBehaviour: 'one order a person' },
  machines: { fault: 'several machines on one database', expectedBehaviour: 'one order a person, one quota' },
  'retry-after': { fault: 'a Retry-After of any kind', expectedBehaviour: 'no hot loop' },
  clock: { fault: 'clock jumps', expectedBehaviour: 'no early send' },
  halt: { fault: 'key, user or credits gone in a batch', expectedBehaviour: 'halts; rows stay pending' },
  redirect: { fault: 'a redirect', expectedBehaviour: 'never followed with a key or a body' },
  'report-url': {
    fault: 'a report URL that leads elsewhere',
    expectedBehaviour: 'refused before a connection',
  },
  'plain-http': { fault: 'http, TLS checks switched off', expectedBehaviour: 'refused but for loopback' },
  modes: { fault: 'umask 000, loose modes', expectedBehaviour: 'files 0600, folders 0700' },
  swapped: {
    fault: 'links swapped in, files half written',
    expectedBehaviour: 'nothing outside, nothing partial',
  },
  names: { fault: 'hostile names of reports', expectedBehaviour: 'made safe' },
  'answer-limits': {
    fault: 'answers that are huge, endless, slow, packed',
    expectedBehaviour: 'given up by a limit',
  },
  workbooks: { fault: 'workbooks that unpack without end', expectedBehaviour: 'refused early' },
  tables: { fault: 'tables with very many sheets, attributes or rows', expectedBehaviour: 'refused early' },
  formulas: { fault: 'formulas in what is exported', expectedBehaviour: 'neutralised; reads back as it was' },
  escapes: {
    fault: 'escapes, bidi, NUL from the service',
    expectedBehaviour: 'harmless on a terminal, exact in JSON',
  },
  prototype: { fault: '__proto__ as a name', expectedBehaviour: 'a name like any other' },
  redos: { fault: 'texts of 100 KB against every expression', expectedBehaviour: 'under 50 ms' },
  forged: { fault: 'forged deliveries', expectedBehaviour: 'refused' },
  'refused-flood': {
    fault: 'forged deliveries without an end',
    expectedBehaviour: 'ten lines, then one a minute that counts them',
  },
  'receiver-killed': {
    fault: 'a receiver killed under load',
    expectedBehaviour: 'nothing acknowledged is lost',
  },
  'at-rest': { fault: 'personal data after a purge', expectedBehaviour: 'in no file' },
  supply: { fault: 'what is installed from others', expectedBehaviour: 'locked, named, licensed' },
  replaced: { fault: 'a package replaced within a file', expectedBehaviour: 'nobody ordered under both' },
  similar: { fault: 'a corrected or swapped spelling', expectedBehaviour: 'held, and asked about' },
  forgotten: { fault: 'a store that has forgotten', expectedBehaviour: 'closed until it is accepted' },
  'colleagues-results': { fault: 'a colleague’s results as input', expectedBehaviour: 'nobody twice' },
  'second-name': { fault: 'a store by a second name', expectedBehaviour: 'refused' },
  mixed: { fault: 'an answer about another request', expectedBehaviour: 'nothing of it shown or filed' },
  services: { fault: 'two services or sandboxes on one store', expectedBehaviour: 'nothing of them mixes' },
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
  'shared-folder': { fault: 'a store where others may write', expectedBehaviour: 'told; doctor fails' },
  'given-folder': {
    fault: 'a given folder that exists already',
    expectedBehaviour: 'its mode stays; refused where others may write',
  },
  'parent-folder': {
    fault: 'an account that owns a folder above ours',
    expectedBehaviour: 'nothing of it is run or believed',
  },
  codes: { fault: 'terminal codes through --csv and --json', expectedBehaviour: 'none reaches the terminal' },
  lines: { fault: 'line breaks and look-alikes in names', expectedBehaviour: 'one line, shown visibly' },
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
    fault: 'a purge while somebody reads',
    expectedBehaviour: 'told that it is not yet complete',
  },
  container: {
    fault: 'a locked-down container',
    expectedBehaviour: 'works with what is given, or says what fails',
  },
  poison: { fault: 'an event that is always refused', expectedBehaviour: 'given up; others never wait' },
  upgrade: { fault: 'an upgrade under a long-lived command', expectedBehaviour: 'goes on with what it is' },
  report: { fault: 'a bundle for a bug report', expectedBehaviour: 'nothing personal in it' },
  parsers: { fault: 'random input to every parser', expectedBehaviour: 'read or refused' },
  screens: {
    fault: 'a screen forged by data',
    expectedBehaviour: 'blanks collapsed, names cut, the person repeated',
  },
  agents: {
    fault: 'a file read by an agent through errors',
    expectedBehaviour: 'no cell, column or sheet name leaves',
  },
  'bad-input': { fault: 'bad input to every command', expectedBehaviour: 'one clear line, nothing sent' },
  canary: { fault: 'key, secret or token where it may be seen', expectedBehaviour: 'shown and kept nowhere' },
} as const satisfies Record<string, Fault>

export type FaultId = keyof typeof faults
