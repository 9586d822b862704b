import { join } from 'node:path'

/** The program as it is shipped; see fresh-build.ts. */
export const program = join(import.meta.dirname, '..', '..', 'bin', 'run.js')
