import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files that take long. Without measured times, vitest starts large files first and these late. */
const longestFiles =
  /(?:postgres\/restored|receiver-check|postgres\/sharing|http\/cuts|report-kill|echoed-secrets|bad-input)\.test\.ts$/

/** Starts the files that take longest first: one that starts last would prolong the whole run. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { long = [], other = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      longestFiles.test(moduleId) ? 'long' : 'other',
    )
    return [...long, ...other]
  }
}
