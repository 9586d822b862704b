import { batchRunArguments, createArguments, csvLines, people, person } from './people.ts'
import { CampaignEnvironment, type Tally } from './environment.ts'

const rows = 30
const singleOrders = 3

/**
 * Each round runs a file and three `request create` at the same time, on one machine with one PostgreSQL, and
 * kills at most one of these processes. Throws if one of them finds the store closed, or if `store check`
 * fails.
 */
export async function runFileWithSingleOrders(rounds: number, rng: () => number): Promise<Tally> {
  const environment = await CampaignEnvironment.open('PostgreSQL')
  try {
    for (let round = 0; round < rounds; round += 1) {
      const first = round * (rows + singleOrders)
      const file = environment.write(`people-${round}.csv`, csvLines(people(rows, first)))
      const killed = Math.floor(rng() * (singleOrders + 1))
      const commands = [
        batchRunArguments(file),
        ...Array.from({ length: singleOrders }, (_, at) => createArguments(person(first + rows + at))),
      ]
      const kill = (at: number) => (at === killed ? { killAt: 1 + Math.floor(rng() * rows) } : {})
      const ended = await Promise.all(commands.map((argv, at) => environment.run(argv, kill(at))))
      ended.push(await environment.run(batchRunArguments(file)), await environment.run(['store', 'check']))
      const closed = ended.find(({ stdout, stderr }) => `${stdout}${stderr}`.includes(' is closed: '))
      if (closed !== undefined) throw new Error(`round ${round}: ${closed.stderr.slice(-300)}`)
      const check = ended.at(-1)
      if (check?.code !== 0) throw new Error(`round ${round}: store check ends with ${check?.code}`)
    }
    return await environment.tally()
  } finally {
    await environment.close()
  }
}
