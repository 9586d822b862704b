import {
  createRunArguments,
  createRequestArguments,
  createCsvLines,
  createPeople,
  createPerson,
} from './people.ts'
import { CampaignEnvironment, type Tally } from './environment.ts'

const rowCount = 30
const singleOrderCount = 3

/**
 * In each round, runs a file and three `request create` at the same time, on one machine with one PostgreSQL, and
 * kills at most one of these processes. Throws if a command finds the store closed, or if `store check`
 * fails.
 */
export async function runFileWithSingleOrders(rounds: number, rng: () => number): Promise<Tally> {
  const environment = await CampaignEnvironment.open('PostgreSQL')
  try {
    for (let round = 0; round < rounds; round += 1) {
      const firstPerson = round * (rowCount + singleOrderCount)
      const file = environment.write(
        `people-${round}.csv`,
        createCsvLines(createPeople(rowCount, firstPerson)),
      )
      const killedIndex = Math.floor(rng() * (singleOrderCount + 1))
      const commands = [
        createRunArguments(file),
        ...Array.from({ length: singleOrderCount }, (_, index) =>
          createRequestArguments(createPerson(firstPerson + rowCount + index)),
        ),
      ]
      const createOptions = (index: number) =>
        index === killedIndex ? { killAtOrder: 1 + Math.floor(rng() * rowCount) } : {}
      const results = await Promise.all(
        commands.map((argv, index) => environment.run(argv, createOptions(index))),
      )
      results.push(await environment.run(createRunArguments(file)), await environment.run(['store', 'check']))
      const closedResult = results.find(({ stdout, stderr }) => `${stdout}${stderr}`.includes(' is closed: '))
      if (closedResult !== undefined) throw new Error(`round ${round}: ${closedResult.stderr.slice(-300)}`)
      const checkResult = results.at(-1)
      if (checkResult?.code !== 0)
        throw new Error(`round ${round}: store check ends with ${checkResult?.code}`)
    }
    return await environment.createTally()
  } finally {
    await environment.close()
  }
}
