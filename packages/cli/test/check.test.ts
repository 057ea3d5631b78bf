import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { FORMAT_VERSION } from '@strongroom/engine/storage/lmdb/format'
import { openStorage } from '@strongroom/engine/storage/open-storage'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

async function withKey(): Promise<string> {
  const cwd = await emptyDirectory()
  await inProcess(['keys', 'create'], { cwd })
  return cwd
}

async function check(cwd: string, ...more: string[]) {
  const { code, stdout } = await inProcess(['check', '--json', ...more], { cwd })
  return { code, ...(JSON.parse(stdout) as { findings: { kind: string; remedy: string }[] }) }
}

/** Counts of a store without the count of one table. */
async function removeCount(directory: string): Promise<void> {
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  const { id } = storage.table('strongroom-server')!
  storage.environment.root.transactionSync(() => {
    storage.environment.meta.removeSync(['count', id])
  })
  await storage.close()
}

describe('strongroom check', () => {
  test('exits with 0 if nothing is damaged', async () => {
    const cwd = await withKey()
    const done = await inProcess(['check'], { cwd })
    expect(done.stdout).toMatch(
      /^Checked \d+ pages, \d+ items, \d+ index entries, \d+ changes in .*\nNothing is damaged\n$/,
    )
    expect(done.code).toBe(0)
    expect(await check(cwd)).toMatchObject({
      code: 0,
      sound: true,
      format: FORMAT_VERSION,
      findings: [],
    })
  })

  test('names what is damaged, says what to do and exits with 1', async () => {
    const cwd = await withKey()
    const file = join(cwd, 'data', 'data.mdb')
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0, 2 * 8192))
    const done = await inProcess(['check'], { cwd })
    expect(done.code).toBe(1)
    expect(done.stdout).toContain('page  The tree "main" is damaged: ')
    expect(done.stdout).toContain('restore the newest backup into a new directory')
    expect(await check(cwd)).toMatchObject({
      code: 1,
      sound: false,
      findings: [{ kind: 'page', remedy: 'restore' }, {}],
    })
  })

  test('refuses a directory that a server has open', async () => {
    const cwd = await emptyDirectory()
    const server = start(['serve'], { cwd, env: { PORT: '0' } })
    await server.until('http://')
    const refused = await strongroom(['check'], { cwd })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`process ${server.process.pid} has it open. Stop every server`),
    ])
    server.process.kill('SIGTERM')
    await server.finished
    expect((await strongroom(['check'], { cwd })).code).toBe(0)
  })

  test('names a master key that is missing, damaged or another one', async () => {
    const cwd = await withKey()
    const file = join(cwd, 'data', 'keys', 'master.key')
    const key = await readFile(file)
    const master = { code: 1, findings: [{ kind: 'master-key', remedy: 'master-key' }] }
    await writeFile(file, key.subarray(0, -5))
    expect(await check(cwd)).toMatchObject(master)
    await rm(file)
    expect(await check(cwd)).toMatchObject(master)
    await inProcess(['kms', 'master-key', 'create', file], { cwd })
    expect(await check(cwd)).toMatchObject(master)
    await writeFile(file, key)
    expect(await check(cwd)).toMatchObject({ code: 0 })
  })

  test('does not convert a directory of an older format', async () => {
    const cwd = await withKey()
    const file = join(cwd, 'data', 'format.json')
    const older = (await readFile(file, 'utf8')).replace(/"format":\d+/, '"format":2')
    await writeFile(file, older)
    const done = await inProcess(['check'], { cwd })
    expect(done.stdout).toContain('An older version wrote the directory (format 2)')
    expect(done.stdout).toContain('Start the server, which converts the directory')
    expect([done.code, await readFile(file, 'utf8')]).toEqual([1, older])
  })

  test('fails without a data directory, and for another store', async () => {
    const cwd = await emptyDirectory()
    const missing = await inProcess(['check'], { cwd })
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('There is no store in'),
    ])
    const env = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }
    const other = await inProcess(['check'], { cwd, env })
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('pass --data DIR')])
  })
})

describe('a backup that is restored into a new directory', () => {
  async function rebuilt(cwd: string): Promise<string> {
    const backup = join(cwd, 'copy')
    const fresh = join(cwd, 'fresh')
    expect((await inProcess(['backup', backup, '--with-sealed'], { cwd })).code).toBe(0)
    await cp(join(cwd, 'data', 'keys'), join(fresh, 'keys'), { recursive: true })
    const restored = await inProcess(['restore', backup, '--data', fresh], { cwd })
    expect([restored.code, restored.stderr]).toEqual([0, expect.any(String)])
    return fresh
  }

  test('has no damage in what can be rebuilt', async () => {
    const cwd = await withKey()
    await removeCount(join(cwd, 'data'))
    expect(await check(cwd)).toMatchObject({ code: 1, findings: [{ remedy: 'rebuild' }] })
    const fresh = await rebuilt(cwd)
    expect(await check(cwd, '--data', fresh)).toMatchObject({ code: 0 })
  })

  test('takes less space than a file with free pages', async () => {
    const cwd = await withKey()
    const engine = await openEngine({ directory: join(cwd, 'data') })
    const table = { TableName: 'large' }
    await engine.createTable({
      ...table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    })
    for (let id = 0; id < 50; id++)
      await engine.putItem({ ...table, Item: { id: String(id), text: 'x'.repeat(100_000) } })
    for (let id = 0; id < 50; id++) await engine.deleteItem({ ...table, Key: { id: String(id) } })
    await engine.close()
    const sizeOf = async (directory: string) => (await stat(join(directory, 'data.mdb'))).size
    const before = await sizeOf(join(cwd, 'data'))
    expect(before).toBeGreaterThan(5_000_000)
    const fresh = await rebuilt(cwd)
    expect(await sizeOf(fresh)).toBeLessThan(before / 10)
    expect(await check(cwd, '--data', fresh)).toMatchObject({ code: 0 })
    const keys = await inProcess(['keys', 'list'], { cwd, env: { STRONGROOM_DATA: fresh } })
    expect([keys.code, keys.stdout]).toEqual([
      0,
      (await inProcess(['keys', 'list'], { cwd })).stdout,
    ])
  })
})
