import { expect, test } from 'vitest'

import { agentProcesses, type Ancestor, isWithin } from '../../../src/domain/approval/lineage.ts'

const process = (pid: number, group: number): Ancestor => ({ pid, group, started: `boot ${pid * 10}` })
const pids = (lineage: readonly Ancestor[]): number[] => agentProcesses(lineage).map(({ pid }) => pid)

test.each([
  [
    'a client that a shell started as a job of its own',
    [
      [30, 20],
      [20, 20],
      [10, 10],
      [1, 1],
    ],
    [30, 20],
  ],
  [
    'a client behind a wrapper',
    [
      [40, 20],
      [30, 20],
      [20, 20],
      [10, 10],
    ],
    [40, 30, 20],
  ],
  [
    'a server in a group of its own: what started it',
    [
      [30, 30],
      [20, 20],
      [10, 20],
    ],
    [30, 20],
  ],
  [
    'a container, where the first process is everybody’s',
    [
      [7, 7],
      [1, 1],
    ],
    [7],
  ],
  ['a system without /proc', [], []],
] as [string, [number, number][], number[]][])('%s', (_what, lineage, expected) => {
  expect(pids(lineage.map(([pid, group]) => process(pid, group)))).toEqual(expected)
})

test('whoever is started by an agent, however far up, is within; another process of the same id is not', () => {
  const agents = agentProcesses([process(30, 20), process(20, 20)])
  expect(isWithin([process(99, 99), process(50, 50), process(20, 20), process(1, 1)], agents)).toBe(true)
  expect(isWithin([process(99, 99), process(1, 1)], agents)).toBe(false)
  expect(isWithin([{ pid: 20, started: 'boot 999' }], agents)).toBe(false)
  expect(isWithin([], agents)).toBe(false)
})
