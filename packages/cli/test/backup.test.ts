import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

describe('strongroom backup and restore', () => {
  async function withOperator() {
    const cwd = await emptyDirectory()
    const { stdout } = await inProcess(['operator', 'add', 'ops'], { cwd })
    return { cwd, token: stdout.trim() }
  }

  const operators = async (cwd: string, data: string) => {
    const env = { STRONGROOM_DATA: join(cwd, data) }
    const { stdout } = await inProcess(['operator', 'list', '--json'], { cwd, env })
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  }

  test('copy all data to another directory', async () => {
    const { cwd } = await withOperator()
    const made = await inProcess(['backup', join(cwd, 'copy.strongroom')], { cwd })
    expect([made.code, made.stdout]).toEqual([
      0,
      `2 tables with 3 items copied to ${join(cwd, 'copy.strongroom')}\n`,
    ])
    expect((await stat(join(cwd, 'copy.strongroom'))).mode & 0o777).toBe(0o600)
    const back = await inProcess(
      ['restore', join(cwd, 'copy.strongroom'), '--data', join(cwd, 'again')],
      { cwd },
    )
    expect([back.code, back.stdout]).toEqual([
      0,
      `2 tables with 3 items restored to ${join(cwd, 'again')}\n`,
    ])
    expect(await operators(cwd, 'again')).toEqual(['ops'])
  })

  test('list every table with its item count, even empty ones', async () => {
    const cwd = await emptyDirectory()
    const engine = await openEngine({ directory: join(cwd, 'data') })
    const counts = { before: 0, filled: 600, last: 0, one: 1 }
    for (const [TableName, count] of Object.entries(counts)) {
      await engine.createTable({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      })
      const text = 'x'.repeat(1000)
      for (let id = 0; id < count; id++)
        await engine.putItem({ TableName, Item: { id: String(id), text } })
    }
    await engine.close()
    const lines = 'before: 0 items\nfilled: 600 items\nlast: 0 items\none: 1 item\n'
    const tables = Object.entries(counts).map(([name, items]) => ({ name, items }))
    const file = join(cwd, 'copy')
    const backUp = (...more: string[]) => inProcess(['backup', file, ...more], { cwd })
    const restoreTo = (data: string, ...more: string[]) =>
      inProcess(['restore', file, '--data', join(cwd, data), ...more], { cwd })

    const createdIn = (data: string) => `Created a store in ${join(cwd, data)}\n`
    expect((await backUp()).stderr).toBe(lines)
    expect((await restoreTo('again')).stderr).toBe(lines + createdIn('again'))
    const [made, restored] = [await backUp('--json'), await restoreTo('once-more', '--json')]
    for (const { stdout } of [made, restored]) expect(JSON.parse(stdout)).toMatchObject({ tables })
    expect([made.stderr, restored.stderr]).toEqual(['', createdIn('once-more')])
  })

  test('work while a server runs', async () => {
    const { cwd } = await withOperator()
    const server = start(['serve'], { cwd, env: { PORT: '0' } })
    await server.until('Press')
    const made = await strongroom(['backup', 'copy.strongroom', '--json'], { cwd })
    server.process.kill('SIGTERM')
    expect((await server.finished).code).toBe(0)
    expect(JSON.parse(made.stdout)).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      tables: expect.arrayContaining([{ name: 'strongroom-server', items: 6 }]),
    })
  })

  test('reject a damaged backup and leave no files behind', async () => {
    const { cwd } = await withOperator()
    await inProcess(['backup', join(cwd, 'copy.strongroom')], { cwd })
    const bytes = await readFile(join(cwd, 'copy.strongroom'))
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    await writeFile(join(cwd, 'damaged.strongroom'), bytes)
    const before = (await readdir(cwd)).toSorted()
    const { code, stderr } = await inProcess(
      ['restore', join(cwd, 'damaged.strongroom'), '--data', join(cwd, 'again')],
      {
        cwd,
      },
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Cannot restore the backup .*\n$/)
    expect((await readdir(cwd)).toSorted()).toEqual(before)
  })

  test('reject a directory that is not empty', async () => {
    const { cwd } = await withOperator()
    await inProcess(['backup', join(cwd, 'copy.strongroom')], { cwd })
    const { code, stderr } = await inProcess(['restore', join(cwd, 'copy.strongroom')], { cwd })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/ is not empty: choose another one\n$/),
    ])
    expect(await operators(cwd, 'data')).toEqual(['ops'])
  })

  test('reject a store that is not embedded or does not exist', async () => {
    const cwd = await emptyDirectory()
    const env = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }
    const endpoint = await inProcess(['backup', join(cwd, 'x')], { cwd, env })
    expect(endpoint).toMatchObject({
      code: 1,
      stderr:
        'This command backs up only the embedded store: on DynamoDB use point-in-time recovery or AWS Backup\n',
    })
    const missing = await inProcess(['backup', join(cwd, 'x')], { cwd })
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`There is no store in ${join(cwd, 'data')}: `),
    ])
    expect(await readdir(cwd)).toEqual([])
  })

  test('report in one line that the file cannot be written', async () => {
    const { cwd } = await withOperator()
    const { code, stderr } = await inProcess(['backup', join(cwd, 'nowhere/copy')], { cwd })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot write the backup ".*nowhere\/copy": ENOENT.*\n$/),
    ])
  })
})
