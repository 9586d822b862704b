/** USAGE of commands whose arguments and flags exclude each other; flags of every other command can be combined. */
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
