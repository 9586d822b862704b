import { createSocket } from 'node:dgram'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { startProgram } from '../harness/process.ts'
import { session } from '../harness/session.ts'
import { world } from '../harness/world.ts'

test('completion explains how to install it, and prints the script of each shell', async () => {
  const { type } = await session({ isLoggedOut: true })
  expect(await type('completion')).toMatchInlineSnapshot(`
    $ refcheck completion
    Run these lines once, for your shell, and open a new terminal:

    bash:

      refcheck completion bash > ~/.refcheck-completion.bash
      echo 'source ~/.refcheck-completion.bash' >> ~/.bashrc

    zsh:

      refcheck completion zsh > ~/.refcheck-completion.zsh
      echo 'source ~/.refcheck-completion.zsh' >> ~/.zshrc

    fish:

      mkdir -p ~/.config/fish/completions
      refcheck completion fish > ~/.config/fish/completions/refcheck.fish

    PowerShell:

      New-Item -Type Directory -Force (Split-Path -Parent $PROFILE)
      refcheck completion powershell >> $PROFILE
    exit 0
  `)
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    expect((await type(`completion ${shell}`)).stdout).toMatch(/refcheck complete ["-]/)
  }
  expect(await type('completion tcsh')).toMatchInlineSnapshot(`
    $ refcheck completion tcsh
    2> Error: "tcsh" is not one of: bash, zsh, fish, powershell
    2> Show its help with: refcheck completion --help
    exit 2
  `)
})

test('the script for PowerShell has this text (no test runs it)', async () => {
  const { type } = await session({ isLoggedOut: true })
  expect((await type('completion powershell')).stdout).toMatchInlineSnapshot(`
    "# PowerShell completion for refcheck
    Register-ArgumentCompleter -Native -CommandName refcheck -ScriptBlock {
      param($wordToComplete, $commandAst, $cursorPosition)
      $before = @(
        $commandAst.CommandElements |
          Select-Object -Skip 1 |
          Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
          ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() } }
      )
      refcheck complete "--current=$wordToComplete" '--' @before 2>$null | ForEach-Object {
        if ($_ -notlike ':*') {
          $value, $about = $_ -split "\`t", 2
          if (-not $about) { $about = $value }
          $text = if ($value -match '[\\s''"$;,(){}&|]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
          [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
        }
      }
    }
    "
  `)
})

test('completion offers ids from the store and the cache, calls no service and creates no file', async () => {
  const { type, listCalls } = await session()
  const complete = (line: string, current = '') => [
    'complete',
    `--current=${current}`,
    '--',
    ...line.split(' '),
  ]
  expect(await type(complete('batch status'))).toMatchInlineSnapshot(`
    $ refcheck complete --current= -- batch status
    exit 0
  `)
  await type('packages list')
  await type(orderArguments('Priya'))
  const before = listCalls().length
  expect(await type(complete('schema show'))).toMatchInlineSnapshot(`
    $ refcheck complete --current= -- schema show
    101	Standard employment screen
    102	Identity check only
    103	Two references
    104	Executive screen
    exit 0
  `)
  expect(await type(complete('sandbox trigger', 'c'))).toMatchInlineSnapshot(`
    $ refcheck complete --current=c -- sandbox trigger
    completed	IN_PROGRESS, PARTIAL, then COMPLETED, each event when it happens.
    cancelled	IN_PROGRESS, then CANCELLED: the recipient declines.
    exit 0
  `)
  expect(await type(complete('request get'))).toMatchInlineSnapshot(`
    $ refcheck complete --current= -- request get
    REQUEST_1	Priya Example, RECEIVED, priya@example.com
    exit 0
  `)
  expect(await type(complete('request get', 'zzz'))).toMatchInlineSnapshot(`
    $ refcheck complete --current=zzz -- request get
    exit 0
  `)
  expect(listCalls()).toHaveLength(before)
})

test('completion offers the packages of an earlier packages list', async () => {
  const { type } = await session()
  await type('packages list --id 102')
  expect(await type(['complete', '--current=10', '--', 'schema', 'show'])).toMatchInlineSnapshot(`
    $ refcheck complete --current=10 -- schema show
    102	Identity check only
    exit 0
  `)
})

test('a database that accepts the connection and never answers does not delay completion', async () => {
  // The server reads, because otherwise its side of a connection would stay open after the test.
  const silentServer = createServer((socket) => socket.on('error', () => undefined).resume())
  await new Promise<void>((listening) => void silentServer.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void silentServer.close())
  const { port } = silentServer.address() as AddressInfo
  const { type } = await session()
  const exported = { REFCHECK_STORE: `postgres://hr:pw@127.0.0.1:${port}/refcheck?sslmode=disable` }
  expect((await type(['complete', '--current=', '--', 'batch', 'status'], { exported })).stdout).toBe('')
})

test('name servers that never answer do not delay completion', async () => {
  const silentServer = createSocket('udp4')
  await new Promise<void>((bound) => silentServer.bind(0, '127.0.0.1', bound))
  onTestFinished(() => void silentServer.close())
  const { env, folder } = await world()
  // A started lookup of the operating system can be neither cancelled nor abandoned.
  const pendingLookup = 'require("node:dns").lookup = () => setTimeout(() => undefined, 120_000)'
  const servers = `require("node:dns").setServers(["127.0.0.1:${silentServer.address().port}"])`
  const hook = join(folder, 'hook.cjs')
  writeFileSync(hook, `${pendingLookup}\n${servers}\n`)
  const run = startProgram(['complete', '--current=', '--', 'batch', 'status'], {
    ...env,
    NODE_OPTIONS: `--require=${hook}`,
    REFCHECK_STORE: 'postgres://hr:pw@db.example/refcheck?sslmode=verify-full',
  })
  expect(await run.ended).toBe(0)
  expect(run.stdout() + run.stderr()).toBe('')
})
