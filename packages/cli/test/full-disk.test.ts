import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { commitFailed } from '@strongroom/engine/storage/lmdb/failures'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodeOf, explain } from '../src/failure.ts'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

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

const mount = (size: string, disk: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', disk]).status === 0

const canMount = await (async () => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const probe = await emptyDirectory()
  const isMounted = mount('1m', probe)
  if (isMounted) spawnSync('umount', [probe])
  return isMounted
})()

/** A disk of that size. */
async function mounted(size: string): Promise<string> {
  const disk = await emptyDirectory()
  mount(size, disk)
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  return disk
}

test.skipIf(!canMount).each(['16k', '64k', '256k'])(
  'a server does not start on a disk of %s, and says in one line what to do',
  async (size) => {
    const env = { PORT: '0', STRONGROOM_DATA: join(await mounted(size), 'data') }
    const { code, stderr } = await strongroom(['serve'], { cwd: await emptyDirectory(), env })
    const [line, ...more] = stderr.split('\n').filter((each) => !/^(?:Created|$)/.test(each))
    expect(line).toMatch(/no space is left on its disk\. Free some space and try again/)
    expect([code, more]).toEqual([1, []])
  },
)

/** Far more than what fits into the free pages of a new store. */
const MAX_WRITES = 40

test.skipIf(!canMount)(
  'a full disk stops writes with a sentence, the server keeps running, and writes work again when there is room',
  async () => {
    const disk = await mounted('16m')
    const env = { PORT: '0', STRONGROOM_DATA: join(disk, 'data') }
    const server = start(['serve'], { cwd: await emptyDirectory(), env })
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const [url = ''] = /http:\/\/[^\s"]+/.exec(await server.until('Press Ctrl+C')) ?? []
    const ballast = join(disk, 'ballast')
    await writeFile(ballast, Buffer.alloc(32 << 20)).catch(() => undefined)
    const add = (name: string) => strongroom(['operator', 'add', name], { env })
    // The file may have free pages for the first ones.
    let full = await add('first')
    for (let count = 0; full.code === 0 && count < MAX_WRITES; count++)
      full = await add(`o-${count}`)
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('no space is left')])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await rm(ballast)
    expect((await add('last')).code).toBe(0)
    server.process.kill('SIGTERM')
    expect((await server.finished).code).toBe(0)
  },
)
