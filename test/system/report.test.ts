import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { worldWithOrders, listPdfs } from '../harness/orders.ts'
import { mountSmallDisk } from '../harness/faults/small-disk.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('disk', { mustNotHappen: 'left something partial', titles: /disk/ })

test('every report passes qpdf --check', async () => {
  const { type, ids, reports } = await worldWithOrders(['Priya'], { full: true })
  expect((await type(`report download --request ${ids[0]} --output reports`)).code).toBe(0)
  const names = listPdfs(reports)
  expect(names).toHaveLength(4)
  for (const name of names) {
    const output = execFileSync('qpdf', ['--check', join(reports, name)], { encoding: 'utf8' })
    expect(output).toContain('No syntax or stream encoding errors found')
  }
})

test('if the disk fills up, the exit code is 1 and only complete files are left; with free space a new run continues', async () => {
  const { type, ids, reports } = await worldWithOrders(['Priya'], { full: true })
  mountSmallDisk(reports, 64)
  // Leaves space for one or two reports, their manifest and the lock of the run.
  writeFileSync(join(reports, 'ballast'), Buffer.alloc(44 * 1024))
  const line = `report download --request ${ids[0]} --output reports --concurrency 1`
  const failedRun = await type(line)
  expect(failedRun.code).toBe(1)
  expect(failedRun.stderr).toMatch(/^Error: cannot .+: no space is left on the disk\n.+\n$/)
  const names = listPdfs(reports)
  expect(names.length).toBeLessThan(4)
  for (const name of names) expect(readFileSync(join(reports, name)).includes('%%EOF')).toBe(true)
  const entries = readdirSync(reports, { recursive: true, encoding: 'utf8' })
  expect(entries.filter((name) => /\.(part|tmp)$/.test(name))).toEqual([])

  execFileSync('mount', ['-o', 'remount,size=1m', reports])
  expect((await type(line)).code).toBe(0)
  expect(listPdfs(reports)).toHaveLength(4)
  expect(readdirSync(reports).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a full disk exits with 1 and one line', async () => {
  const { type, ids, reports } = await worldWithOrders(['Priya'])
  mountSmallDisk(reports, 64)
  writeFileSync(join(reports, 'ballast'), Buffer.alloc(64 * 1024))
  const { code, stdout, stderr } = await type(`report download --request ${ids[0]} --output reports`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^Error: cannot .+: no space is left on the disk\n.+\n$/)
  expect(listPdfs(reports)).toEqual([])
})

test('a read-only disk exits with 1 and one line', async () => {
  const { type, ids, reports, countNewQuotaCalls } = await worldWithOrders(['Priya'])
  mountSmallDisk(reports, 64)
  execFileSync('mount', ['-o', 'remount,ro', reports])
  countNewQuotaCalls()
  const { code, stdout, stderr } = await type(`report download --request ${ids[0]} --output reports`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^Error: cannot write to the folder ".+": the file system is read-only\n.+\n$/)
  expect(countNewQuotaCalls()).toBe(0)
  expect(readdirSync(reports)).toEqual([])
})
