import { batchRun, create, lines, people, person } from './cast.ts'
import { Stage, type Tally } from './stage.ts'

const rows = 30
const singles = 3

/**
 * Runs of a file with three `request create` next to each, on one machine and one PostgreSQL, of which one process a round is
 * killed. Throws where one of them finds the store closed, or a person has no order in the end.
 */
export async function oneMachine(rounds: number, rng: () => number): Promise<Tally> {
  const stage = await Stage.open('PostgreSQL')
  try {
    for (let round = 0; round < rounds; round += 1) {
      const first = round * (rows + singles)
      const file = stage.write(`people-${round}.csv`, lines(people(rows, first)))
      const killed = Math.floor(rng() * (singles + 1))
      const commands = [
        batchRun(file),
        ...Array.from({ length: singles }, (_, at) => create(person(first + rows + at))),
      ]
      const kill = (at: number) => (at === killed ? { killAt: 1 + Math.floor(rng() * rows) } : {})
      const ended = await Promise.all(commands.map((argv, at) => stage.run(argv, kill(at))))
      ended.push(await stage.run(batchRun(file)), await stage.run(['store', 'check']))
      const closed = ended.find(({ stdout, stderr }) => `${stdout}${stderr}`.includes(' is closed: '))
      if (closed !== undefined) throw new Error(`round ${round}: ${closed.stderr.slice(-300)}`)
      const check = ended.at(-1)
      if (check?.code !== 0) throw new Error(`round ${round}: store check ends with ${check?.code}`)
    }
    return await stage.tally()
  } finally {
    await stage.close()
  }
}
