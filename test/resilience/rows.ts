/** A fault or an attack, and what the program does then; each has tests that say so by `faultRow`. */
interface Fault {
  fault: string
  right: string
}

export const faults = {
  kill: { fault: 'SIGKILL at any moment', right: 'nobody twice, nothing lost, one unknown a kill' },
  'power-loss': { fault: 'power loss', right: 'the journal is on disk before a POST' },
  disk: {
    fault: 'a flush that fails, a full disk',
    right: 'sends nothing more, says so, the store is sound',
  },
  cut: { fault: 'network cut after any byte', right: 'nothing is sent again' },
  'two-runners': { fault: 'two runners on one file or person', right: 'one order a person' },
  machines: { fault: 'several machines on one database', right: 'one order a person, one quota' },
  'retry-after': { fault: 'a Retry-After of any kind', right: 'no hot loop' },
  clock: { fault: 'clock jumps', right: 'no early send' },
  halt: { fault: 'key, user or credits gone in a batch', right: 'halts; rows stay pending' },
  redirect: { fault: 'a redirect', right: 'never followed with a key or a body' },
  'report-url': { fault: 'a report URL that leads elsewhere', right: 'refused before a connection' },
  'plain-http': { fault: 'http, TLS checks switched off', right: 'refused but for loopback' },
  modes: { fault: 'umask 000, loose modes', right: 'files 0600, folders 0700' },
  swapped: { fault: 'links swapped in, files half written', right: 'nothing outside, nothing partial' },
  names: { fault: 'hostile names of reports', right: 'made safe' },
  endless: { fault: 'answers that are huge, endless, slow, packed', right: 'given up by a limit' },
  workbooks: { fault: 'workbooks that unpack without end', right: 'refused early' },
  formulas: { fault: 'formulas in what is exported', right: 'neutralised; reads back as it was' },
  escapes: { fault: 'escapes, bidi, NUL from the service', right: 'harmless on a terminal, exact in JSON' },
  prototype: { fault: '__proto__ as a name', right: 'a name like any other' },
  redos: { fault: 'texts of 100 KB against every expression', right: 'under 50 ms' },
  forged: { fault: 'forged deliveries', right: 'refused' },
  'receiver-killed': { fault: 'a receiver killed under load', right: 'nothing acknowledged is lost' },
  'at-rest': { fault: 'personal data after a purge', right: 'in no file' },
  supply: { fault: 'what is installed from others', right: 'locked, named, licensed' },
  replaced: { fault: 'a package replaced within a file', right: 'nobody ordered under both' },
  similar: { fault: 'a corrected or swapped spelling', right: 'held, and asked about' },
  forgotten: { fault: 'a store that has forgotten', right: 'closed until it is accepted' },
  witnesses: { fault: 'a colleague’s results as input', right: 'nobody twice' },
  'second-name': { fault: 'a store by a second name', right: 'refused' },
  mixed: { fault: 'an answer about another request', right: 'nothing of it shown or filed' },
  echo: { fault: 'the key sent back by the service', right: 'replaced before it is shown or kept' },
  planted: { fault: 'links, FIFOs, other accounts’ files where we write', right: 'never followed' },
  children: { fault: 'programs that we start', right: 'no key in their environment' },
  'shared-folder': { fault: 'a store where others may write', right: 'told; doctor fails' },
  codes: { fault: 'terminal codes through --csv and --json', right: 'none reaches the terminal' },
  lines: { fault: 'line breaks and look-alikes in names', right: 'one line, shown visibly' },
  bombs: { fault: 'nested sheets, YAML bombs, huge restores', right: 'refused early' },
  idle: { fault: '1,000 idle connections to a receiver', right: 'deliveries are answered' },
  'purge-read': { fault: 'a purge while somebody reads', right: 'told that it is not yet complete' },
  container: { fault: 'a locked-down container', right: 'works with what is given, or says what fails' },
  poison: { fault: 'an event that is always refused', right: 'given up; others never wait' },
  upgrade: { fault: 'an upgrade under a long-lived command', right: 'goes on with what it is' },
  report: { fault: 'a bundle for a bug report', right: 'nothing personal in it' },
  parsers: { fault: 'random input to every parser', right: 'read or refused' },
  'bad-input': { fault: 'bad input to every command', right: 'one clear line, nothing sent' },
} as const satisfies Record<string, Fault>

export type FaultId = keyof typeof faults
