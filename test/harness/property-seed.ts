import fc from 'fast-check'

import { variable } from '../../src/host/process.ts'

/** One seed for all properties, so that runs are reproducible; `REFCHECK_SEED=N npm test` uses another. */
fc.configureGlobal({ seed: Number(variable(process.env, 'REFCHECK_SEED') ?? 1) })
