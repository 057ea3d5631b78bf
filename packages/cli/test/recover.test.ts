import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { describe, expect, test } from 'vitest'
import { onStore } from './copied-stores.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start } from './strongroom.ts'

/** A store with one operator before the moment, and another one after it. */
async function withTwoOperators() {
  const cwd = await emptyDirectory()
  await inProcess(['tables', 'create'], { cwd })
  await inProcess(['operator', 'add', 'before'], { cwd })
  const at = new Date(Date.now() + 1).toISOString()
  while (Date.now() <= Date.parse(at)) await new Promise((resolve) => setImmediate(resolve))
  await inProcess(['operator', 'add', 'after'], { cwd })
  return { cwd, at }
}

async function operators(cwd: string): Promise<string[]> {
  const { stdout } = await inProcess(['operator', 'list', '--json'], { cwd })
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).toSorted()
}

async function listed(cwd: string): Promise<string[]> {
  const { stdout } = await inProcess(['recover', 'list', '--json'], { cwd })
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
}

const server = ['--table', 'strongroom-server']

describe('strongroom recover', () => {
  test('recovers a table into one of its own, which an operator puts in place or removes', async () => {
    const { cwd, at } = await withTwoOperators()
    const recovered = `strongroom-server-recovered-${at.replaceAll(/[-:]/g, '').replace('.000Z', 'Z')}`
    const done = await inProcess(['recover', ...server, '--at', at], { cwd })
    expect([done.code, done.stdout]).toEqual([
      0,
      `strongroom-server as of ${at} is in ${recovered}, with 1 item\n`,
    ])
    expect(await operators(cwd)).toEqual(['after', 'before'])

    const again = await inProcess(['recover', ...server, '--at', at], { cwd })
    expect([again.code, again.stderr]).toEqual([
      1,
      `${recovered} exists: put it in place with "strongroom recover use ${recovered}", remove it with "strongroom recover remove ${recovered}", or pass --overwrite\n`,
    ])
    const replaced = await inProcess(['recover', ...server, '--at', at, '--overwrite'], { cwd })
    expect(replaced.code).toBe(0)

    const used = await inProcess(['recover', 'use', recovered, '--json'], { cwd })
    const { safetyCopy } = JSON.parse(used.stdout) as { safetyCopy: string }
    expect(await operators(cwd)).toEqual(['before'])
    expect(await listed(cwd)).toEqual([safetyCopy])
    // The safety copy takes everything back.
    expect((await inProcess(['recover', 'use', safetyCopy], { cwd })).code).toBe(0)
    expect(await operators(cwd)).toEqual(['after', 'before'])
    for (const name of await listed(cwd))
      expect((await inProcess(['recover', 'remove', name], { cwd })).code).toBe(0)
    expect(await listed(cwd)).toEqual([])
    expect((await inProcess(['tables', 'verify'], { cwd })).code).toBe(0)
    const audit = await inProcess(['audit', 'list', '--action', 'server.tables.recovered'], { cwd })
    expect(audit.stdout.trim().split('\n')).toHaveLength(2)
  })

  test('replaces several tables at once, and a second run changes nothing', async () => {
    const { cwd, at } = await withTwoOperators()
    const args = [...server, '--table', 'ferryhook-main', '--at', at, '--in-place', '--json']
    const done = await inProcess(['recover', ...args], { cwd })
    expect(JSON.parse(done.stdout)).toMatchObject({
      at,
      inPlace: true,
      tables: [
        { table: 'strongroom-server', items: 1, safetyCopy: expect.stringContaining('-before-') },
        { table: 'ferryhook-main', items: 0, safetyCopy: expect.stringContaining('-before-') },
      ],
    })
    expect(await operators(cwd)).toEqual(['before'])
    const copies = await listed(cwd)
    const again = await inProcess(['recover', ...args], { cwd })
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { at, tables: [] }])
    expect(await listed(cwd)).toEqual(copies)
    // The table expires and can be recovered as before.
    expect((await inProcess(['tables', 'verify'], { cwd })).code).toBe(0)
  })

  test('continues after a kill', async () => {
    const cwd = await emptyDirectory()
    await inProcess(['tables', 'create'], { cwd })
    const text = 'x'.repeat(2_000)
    const put = async (count: number) => {
      const engine = await openEngine({ directory: join(cwd, 'data') })
      for (let first = 0; first < count; first += 25) {
        const requests = Array.from({ length: 25 }, (_, index) => ({
          PutRequest: { Item: { PK: 'BULK', SK: String(first + index), text } },
        }))
        await engine.batchWriteItem({ RequestItems: { 'ferryhook-main': requests } })
      }
      await engine.close()
    }
    await put(5_000)
    const at = new Date(Date.now() + 1).toISOString()
    while (Date.now() <= Date.parse(at)) await new Promise((resolve) => setImmediate(resolve))
    await put(25)
    const args = ['recover', '--table', 'ferryhook-main', '--at', at, '--json']
    const first = start(args, { cwd })
    const recovered = `ferryhook-main-recovered-`
    const engine = await openEngine({ directory: join(cwd, 'data'), sweepIntervalMs: 0 })
    const isBegun = () => engine.storage.tables().some(({ name }) => name.startsWith(recovered))
    while (!isBegun()) {
      engine.storage.refresh()
      await new Promise((resolve) => setImmediate(resolve))
    }
    first.process.kill('SIGKILL')
    await first.finished
    await engine.close()
    const second = await inProcess(args, { cwd })
    expect([second.code, JSON.parse(second.stdout)]).toEqual([
      0,
      expect.objectContaining({
        tables: [expect.objectContaining({ table: 'ferryhook-main', items: 5_000 })],
      }),
    ])
  })

  test('replaces nothing while a server runs', async () => {
    const { cwd, at } = await withTwoOperators()
    const running = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    try {
      await running.until('\n}\n')
      const refused = await inProcess(['recover', ...server, '--at', at, '--in-place'], { cwd })
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/ is in use \(process \d+\): stop it before you replace a table\n$/),
      ])
      // A table of its own disturbs nobody.
      const beside = await inProcess(['recover', ...server, '--at', at], { cwd })
      expect(beside.code).toBe(0)
      const used = await inProcess(['recover', 'use', (await listed(cwd))[0] ?? ''], { cwd })
      expect(used.code).toBe(1)
    } finally {
      running.process.kill('SIGTERM')
      await running.finished
    }
  })

  test('does not put the keys of another master key in place', async () => {
    const { cwd, at } = await withTwoOperators()
    // The first start creates the KMS key, which the moment before does not have.
    await onStore({ STRONGROOM_DATA: join(cwd, 'data') }, async () => undefined).catch(() => {})
    await inProcess(['secrets', 'list'], { cwd })
    await inProcess(['keys', 'create'], { cwd })
    const refused = await inProcess(['recover', ...server, '--at', at, '--in-place'], { cwd })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('has no key of the present master key'),
    ])
    expect(await operators(cwd)).toEqual(['after', 'before'])
  })

  test('says which moments and tables can be recovered', async () => {
    const { cwd, at } = await withTwoOperators()
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await inProcess(['recover', ...args], { cwd })
      return [code, stderr.trim()]
    }
    expect(await refusal(...server, '--at', '30d')).toEqual([
      1,
      expect.stringMatching(
        /^strongroom-server can be recovered to moments from \S+Z until now, not to \S+Z: choose a later moment, or restore a backup$/,
      ),
    ])
    expect(await refusal(...server, '--at', '2999-01-01T00:00:00Z')).toEqual([
      2,
      '--at is in the future: pass a time that has passed',
    ])
    expect(await refusal(...server, '--at', '2026-01-01 10:00')).toEqual([
      2,
      '--at takes a time with its zone, such as 2030-01-31T14:05:00Z, or how long ago, such as 15m',
    ])
    expect(await refusal('--table', 'sealed-secrets', '--at', at)).toEqual([
      1,
      'Earlier states of sealed-secrets are not kept: its items are not to be kept after they are deleted',
    ])
    expect(await refusal('--table', 'other', '--at', at)).toEqual([
      2,
      expect.stringMatching(/^There is no table "other": choose from strongroom-server, /),
    ])
    expect(await refusal('--at', at)).toEqual([2, '--table is missing: name the table to recover'])
    expect(await refusal('use', 'strongroom-server')).toEqual([
      1,
      'There is no recovered table or safety copy "strongroom-server": see "strongroom recover list"',
    ])
    expect(await refusal('remove', 'strongroom-server')).toEqual([1, expect.any(String)])
    const remote = await inProcess(['recover', ...server, '--at', at], {
      env: { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
    })
    expect(remote.stderr).toContain("on DynamoDB use AWS's own point-in-time recovery")
  })
})
