import { mkdir, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { commitFailed } from '@strongroom/engine/storage/lmdb/failures'
import { expect, test } from 'vitest'
import { exitCodeOf, explain } from '../src/failure.ts'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory } from './strongroom.ts'

test('a full disk is reported in one line that says what to do', () => {
  const full = commitFailed('/data', constants.errno.ENOSPC)
  expect(explain(full)).toBe(
    'Cannot write to the data directory "/data": no space is left on its disk. Free some space and try again. Nothing of this request was stored',
  )
  expect(exitCodeOf(full)).toBe(1)
})

test('an audit log that cannot be written is reported in one line', async () => {
  const cwd = await emptyDirectory()
  const log = join(cwd, 'data', 'keys', 'kms-audit.log')
  await firstStart(cwd)
  await rm(log)
  await mkdir(log)
  const { code, stderr } = await inProcess(['kms', 'rotate'], { cwd })
  expect(stderr).toMatch(/^Cannot write the audit log "[^"]+": EISDIR.+\n$/)
  expect(code).toBe(1)
})
