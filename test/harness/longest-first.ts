import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Short files by their size that take longest: vitest starts the large ones first where it has measured none. */
const longest =
  /(?:postgres\/restored|receiver-check|postgres\/sharing|http\/cuts|report-kill|echoed-secrets|bad-input)\.test\.ts$/

/** The others fill what is left of a run; one of these at its end would be waited for alone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { long = [], other = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      longest.test(moduleId) ? 'long' : 'other',
    )
    return [...long, ...other]
  }
}
