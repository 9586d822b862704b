import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { type Screen, openScreen } from '../harness/screen.ts'
import { createProgramFolder } from '../harness/shell.ts'
import { keys } from '../harness/terminal.ts'
import { type World, world } from '../harness/world.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** Arguments that start each shell interactively, without the settings of this machine. */
const shellArguments: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['--norc', '--noprofile', '-i'],
  zsh: ['-f', '-i'],
  fish: ['--no-config', '-i'],
}

/** Starts a world with a cached package list, a request, a batch and a file, which completion can offer. */
async function worldWithOrders(): Promise<World & { request: string; batch: string }> {
  const here = await world({ seed: 'completion' })
  await here.run(['packages', 'list'])
  await here.run(orderArguments('Priya'))
  writeFileSync(
    join(here.folder, 'people.csv'),
    'first_name,last_name,email,phone\nMei,Ito,mei@example.com,+81312345678\n',
  )
  const run = await here.run(['batch', 'run', 'people.csv', '--package', '102', '--yes', '--json'])
  const { batch_id: batch } = run.json() as { batch_id: string }
  const [request] = here.sandbox.requests()
  return { ...here, batch, request: request?.request_id ?? '' }
}

/** Starts a shell in which the script of `refcheck completion` is loaded. */
async function openShell(here: World, shell: Shell): Promise<Screen> {
  const script = await here.run(['completion', shell])
  writeFileSync(join(here.folder, `refcheck.${shell}`), script.stdout)
  const env = {
    ...here.env,
    PATH: `${createProgramFolder(here.folder)}:${process.env['PATH'] ?? ''}`,
    HOME: here.folder,
    LANG: 'C.UTF-8',
    PS1: '> ',
  }
  const screen = openScreen(shell, shellArguments[shell], { cwd: here.folder, env })
  await screen.until(/[>#]\s*$/)
  screen.press(`source refcheck.${shell}; echo set" "up\r`)
  await screen.until('set up')
  return screen
}

test.each(['bash', 'zsh', 'fish'] as const)('a running %s completes a typed command line', async (shell) => {
  const here = await worldWithOrders()
  const screen = await openShell(here, shell)
  const expectCompletion = async (typed: string, completedLine: string): Promise<void> => {
    screen.press(`${typed}\t`)
    await screen.until(completedLine)
    expect(screen.visibleText()).toContain(completedLine)
    screen.press(keys.ctrlU)
  }
  await expectCompletion('refcheck pack', 'refcheck packages')
  await expectCompletion('refcheck batch vali', 'refcheck batch validate')
  await expectCompletion('refcheck batch run --on-inv', 'refcheck batch run --on-invalid')
  await expectCompletion('refcheck batch run --on-invalid sk', 'refcheck batch run --on-invalid skip')
  await expectCompletion('refcheck batch run --on-invalid=sk', 'refcheck batch run --on-invalid=skip')
  await expectCompletion('refcheck batch run people.c', 'refcheck batch run people.csv')
  await expectCompletion(`refcheck batch status ${here.batch.slice(0, 4)}`, `batch status ${here.batch}`)
  await expectCompletion(`refcheck request get ${here.request.slice(0, 4)}`, `request get ${here.request}`)
  await expectCompletion('refcheck config set def', 'refcheck config set default-country')
  // If several values are possible, they are listed.
  screen.press('refcheck schema show 10\t\t')
  await screen.until('104')
  await screen.until('Executive screen')
})

test('bash lists ids with names, and inserts ids alone', async () => {
  const here = await worldWithOrders()
  const screen = await openShell(here, 'bash')
  const other = here.sandbox.requests()[1]?.request_id ?? ''
  screen.press('refcheck request get \t\t')
  await screen.until(`${here.request}  (Priya Example, RECEIVED, priya@example…)`)
  await screen.until(`${other}  (Mei Ito, RECEIVED, mei@example.com)`)
  screen.press(`${here.request.slice(0, 4)}\t`)
  await screen.until(`> refcheck request get ${here.request}`)
  screen.press(`${keys.ctrlU}bind 'set show-all-if-ambiguous on'\rrefcheck schema show 1\t`)
  await screen.until('104  (Executive screen)')
  await screen.until(/> refcheck schema show 10$/m)
  screen.press('2\t')
  await screen.until(/> refcheck schema show 102$/m)
  expect(screen.visibleText()).not.toContain('schema show 102  (')
})

test('pressing TAB never runs the typed text', async () => {
  const here = await worldWithOrders()
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const screen = await openShell(here, shell)
    screen.press("refcheck batch run --sheet '$(touch evil)' `touch evil` --on-invalid sk\t")
    await screen.until(/--on-invalid\s+skip/)
  }
  expect(existsSync(join(here.folder, 'evil'))).toBe(false)
})
