/*
 * Measures `packages list`, which reads the service once and prints a table, as a whole process that calls a sandbox
 * process. It is compared with the start of bare Node.js, with python3 scripts that do the same with requests and with
 * urllib, and with curl. The peak memory is measured too.
 * Run: npm run build && node test/bench/get-table/run.ts [ROUNDS]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Figure, measureInPairs, median, medianRatio, printFigures } from '../measuring.ts'
import {
  measureBareNode,
  createHome,
  findInstalled,
  measureProcess,
  findPython,
  startSandboxProcess,
} from '../program.ts'

const [rounds = 15] = process.argv.slice(2).map(Number)
const home = createHome()
const sandbox = await startSandboxProcess(home)
const env = { ...home.env, ...sandbox.env }

const createListArguments = (...flags: string[]): string[] => [home.program, 'packages', 'list', ...flags]
const measureList = (...flags: string[]): number =>
  measureProcess(process.execPath, createListArguments(...flags), env)

/** The part of a Python script that calls the service and checks the answer. */
const pythonCalls = {
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

function createScript(call: string): string {
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

async function compareWithNode(label: string, measureOurs: () => number, atMost?: number): Promise<Figure> {
  const pairs = await measureInPairs(rounds, measureOurs, () => measureBareNode(env))
  const ms = Math.round(median(pairs.map(([ours]) => ours)))
  return { label: `${label}, to bare node`, value: medianRatio(pairs), atMost, note: `${ms} ms` }
}

async function compareWithPeer(
  name: string,
  measurePeer: (() => number) | undefined,
  atMost?: number,
): Promise<Figure> {
  const label = `packages list, to ${name}`
  if (measurePeer === undefined) return { label, value: Number.NaN, note: 'not on this machine' }
  const pairs = await measureInPairs(rounds, () => measureList(), measurePeer)
  const ms = Math.round(median(pairs.map(([, peer]) => peer)))
  return { label, value: medianRatio(pairs), atMost, note: `which takes ${ms} ms` }
}

/** Returns the peak memory of the process in MB. */
function measurePeakMegabytes(...flags: string[]): number {
  const peakFile = join(home.folder, 'peak')
  const probe = join(home.folder, 'probe.cjs')
  // VmHWM is preferred, because maxRSS (of getrusage) may be the peak of the parent process.
  writeFileSync(
    probe,
    `const fs = require('node:fs')
process.on('exit', () => {
  let kilobytes = process.resourceUsage().maxRSS
  try { kilobytes = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1] } catch {}
  fs.writeFileSync(${JSON.stringify(peakFile)}, String(kilobytes))
})`,
  )
  measureProcess(process.execPath, ['--require', probe, ...createListArguments(...flags)], env)
  return Number(readFileSync(peakFile, 'utf8')) / 1024
}

try {
  const curlProgram = findInstalled('curl')
  const createPythonMeasurement = (module: keyof typeof pythonCalls): (() => number) | undefined => {
    const interpreter = findPython(module)
    if (interpreter === undefined) return undefined
    return () => measureProcess(interpreter, ['-c', createScript(pythonCalls[module])], env)
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
    await compareWithNode('packages list', () => measureList(), 3.8),
    await compareWithNode('packages list --json', () => measureList('--json'), 3.8),
    await compareWithPeer('a python requests script', createPythonMeasurement('requests'), 1),
    await compareWithPeer('a python urllib script', createPythonMeasurement('urllib')),
    await compareWithPeer(
      'curl',
      curlProgram === undefined ? undefined : () => measureProcess(curlProgram, curlFlags, env),
    ),
    {
      label: 'peak memory of packages list',
      value: median(Array.from({ length: 5 }, () => measurePeakMegabytes())),
      unit: ' MB',
      atMost: 80,
    },
  ])
} finally {
  await sandbox.stop()
  home.remove()
}
