/*
 * One read of the service and its table, as whole processes against a sandbox process on loopback: to bare node, to
 * python3 scripts that do the same with requests and with urllib, and to curl. And how much memory it takes.
 * Run: npm run build && node test/bench/get-table/run.ts [ROUNDS]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Figure, inPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { bareNode, home, installed, milliseconds, pythonWith, sandboxProcess } from '../program.ts'

const [rounds = 15] = process.argv.slice(2).map(Number)
const here = home()
const sandbox = await sandboxProcess(here)
const env = { ...here.env, ...sandbox.env }

const list = (...flags: string[]): string[] => [here.program, 'packages', 'list', ...flags]
const ours = (...flags: string[]): number => milliseconds(process.execPath, list(...flags), env)

/** What the program does, as one would write it for oneself: the call, its check, the columns. */
const python = {
  requests: `
import requests
answer = requests.get(os.environ['REFCHECK_BASE_URL'] + '/v1/packages', headers=headers)
answer.raise_for_status()
packages = answer.json()['data']['packages']`,
  urllib: `
import json, urllib.request
with urllib.request.urlopen(urllib.request.Request(os.environ['REFCHECK_BASE_URL'] + '/v1/packages', headers=headers)) as answer:
    packages = json.load(answer)['data']['packages']`,
}

function script(call: string): string {
  return `
import os
headers = {
    'X-Service-API-Key': os.environ['REFCHECK_API_KEY'],
    'X-Service-User-Email': os.environ['REFCHECK_USER_EMAIL'],
}${call}
rows = [('ID', 'NAME', 'STATUS')] + [(str(p['id']), p['name'], p['status']) for p in packages]
widths = [max(len(row[at]) for row in rows) for at in range(3)]
for row in rows:
    print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
`
}

async function toNode(what: string, own: () => number, atMost?: number): Promise<Figure> {
  const pairs = await inPairs(rounds, own, () => bareNode(env))
  const ms = Math.round(median(pairs.map(([took]) => took)))
  return { what: `${what}, to bare node`, value: medianRatio(pairs), atMost, note: `${ms} ms` }
}

async function toPeer(name: string, run: (() => number) | undefined, atMost?: number): Promise<Figure> {
  const what = `packages list, to ${name}`
  if (run === undefined) return { what, value: Number.NaN, note: 'not on this machine' }
  const pairs = await inPairs(rounds, () => ours(), run)
  const ms = Math.round(median(pairs.map(([, took]) => took)))
  return { what, value: medianRatio(pairs), atMost, note: `which takes ${ms} ms` }
}

/** Megabytes, the most that the process ever held. */
function peak(...flags: string[]): number {
  const peakFile = join(here.folder, 'peak')
  const probe = join(here.folder, 'probe.cjs')
  // The kernel's own figure; what getrusage tells of a child may be that of the process that started it.
  writeFileSync(
    probe,
    `const fs = require('node:fs')
process.on('exit', () => {
  let kilobytes = process.resourceUsage().maxRSS
  try { kilobytes = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1] } catch {}
  fs.writeFileSync(${JSON.stringify(peakFile)}, String(kilobytes))
})`,
  )
  milliseconds(process.execPath, ['--require', probe, ...list(...flags)], env)
  return Number(readFileSync(peakFile, 'utf8')) / 1024
}

try {
  const curl = installed('curl')
  const inPython = (module: keyof typeof python): (() => number) | undefined => {
    const interpreter = pythonWith(module)
    if (interpreter === undefined) return undefined
    return () => milliseconds(interpreter, ['-c', script(python[module])], env)
  }
  const headers = [`X-Service-API-Key: ${sandbox.apiKey}`, `X-Service-User-Email: ${sandbox.userEmail}`]
  const curlFlags = [
    '-sS',
    '--fail',
    ...headers.flatMap((each) => ['-H', each]),
    `${sandbox.url}/v1/packages`,
  ]
  process.stdout.write(`Whole processes, medians of ${rounds} pairs\n`)
  printFigures([
    await toNode('packages list', () => ours(), 3.8),
    await toNode('packages list --json', () => ours('--json'), 3.8),
    await toPeer('a python requests script', inPython('requests'), 1),
    await toPeer('a python urllib script', inPython('urllib')),
    await toPeer('curl', curl === undefined ? undefined : () => milliseconds(curl, curlFlags, env)),
    {
      what: 'peak memory of packages list',
      value: median(Array.from({ length: 5 }, () => peak())),
      unit: ' MB',
      atMost: 80,
    },
  ])
} finally {
  await sandbox.stop()
  here.remove()
}
