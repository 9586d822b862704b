import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Slow files that are small: without measured times, vitest starts large files first and these late. */
const slowestFiles =
  /(?:postgres\/restored|receiver-check|postgres\/sharing|http\/cuts|report-kill|echoed-secrets|bad-input)\.test\.ts$/

/** Starts the slowest files first, because a slow file that starts last prolongs the whole run. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { long = [], other = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      slowestFiles.test(moduleId) ? 'long' : 'other',
    )
    return [...long, ...other]
  }
}
