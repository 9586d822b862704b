import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { type Screen, openScreen } from '../harness/screen.ts'
import { programFolder } from '../harness/shell.ts'
import { keys } from '../harness/terminal.ts'
import { type World, world } from '../harness/world.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** How a person starts each shell, with nothing of this machine's own set up. */
const starts: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['--norc', '--noprofile', '-i'],
  zsh: ['-f', '-i'],
  fish: ['--no-config', '-i'],
}

/** One package listed, one request, a batch and files: what completion may offer. */
async function orderedWorld(): Promise<World & { request: string; batch: string }> {
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

/** A shell with completion set up as `refcheck completion` says, by a line. */
async function shellWith(here: World, shell: Shell): Promise<Screen> {
  const script = await here.run(['completion', shell])
  writeFileSync(join(here.folder, `refcheck.${shell}`), script.stdout)
  const env = {
    ...here.env,
    PATH: `${programFolder(here.folder)}:${process.env['PATH'] ?? ''}`,
    HOME: here.folder,
    LANG: 'C.UTF-8',
    PS1: '> ',
  }
  const screen = openScreen(shell, starts[shell], { cwd: here.folder, env })
  await screen.until(/[>#]\s*$/)
  screen.press(`source refcheck.${shell}; echo set" "up\r`)
  await screen.until('set up')
  return screen
}

test.each(['bash', 'zsh', 'fish'] as const)('a live %s completes what is typed', async (shell) => {
  const here = await orderedWorld()
  const screen = await shellWith(here, shell)
  const completes = async (typed: string, whole: string): Promise<void> => {
    screen.press(`${typed}\t`)
    await screen.until(whole)
    expect(screen.visibleText()).toContain(whole)
    screen.press(keys.ctrlU)
  }
  await completes('refcheck pack', 'refcheck packages')
  await completes('refcheck batch vali', 'refcheck batch validate')
  await completes('refcheck batch run --on-inv', 'refcheck batch run --on-invalid')
  await completes('refcheck batch run --on-invalid sk', 'refcheck batch run --on-invalid skip')
  await completes('refcheck batch run --on-invalid=sk', 'refcheck batch run --on-invalid=skip')
  await completes('refcheck batch run people.c', 'refcheck batch run people.csv')
  await completes(`refcheck batch status ${here.batch.slice(0, 4)}`, `batch status ${here.batch}`)
  await completes(`refcheck request get ${here.request.slice(0, 4)}`, `request get ${here.request}`)
  await completes('refcheck config set def', 'refcheck config set default-country')
  // Several are shown.
  screen.press('refcheck schema show 10\t\t')
  await screen.until('104')
})

test('what is typed is never run by pressing TAB', async () => {
  const here = await orderedWorld()
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const screen = await shellWith(here, shell)
    screen.press("refcheck batch run --sheet '$(touch evil)' `touch evil` --on-invalid sk\t")
    await screen.until(/--on-invalid\s+skip/)
  }
  expect(existsSync(join(here.folder, 'evil'))).toBe(false)
})
