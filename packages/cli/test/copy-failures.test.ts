/** Copies that are interrupted, refused, or whose sides fail or change meanwhile. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { serve } from '@strongroom/engine/wire/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  allServices,
  copiedItems,
  credentials,
  itemsOf,
  onStore,
  startKms,
  withoutWrapping,
} from './copied-stores.ts'
import { type Fault, startFaultyProxy } from './faulty-proxy.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, launcher, type Running, start, strongroom } from './strongroom.ts'

const running: Running[] = []
let kms: { endpoint: string; arn: string }
let source: string

beforeAll(async () => {
  // The SDK of this process reads them from the environment.
  Object.assign(process.env, credentials)
  kms = await startKms(running)
  source = join(await allServices(), 'data')
})
afterAll(() => {
  for (const { process: child } of running) child.kill('SIGKILL')
  for (const name of Object.keys(credentials)) Reflect.deleteProperty(process.env, name)
})

const itemsIn = (directory: string) => onStore({ STRONGROOM_DATA: directory }, itemsOf)
const run = (...args: string[]) => inProcess(['copy', ...args])
const kmsOptions = (side: string, endpoint = kms.endpoint, arn = kms.arn) => [
  `--${side}-kms`,
  endpoint,
  `--${side}-key`,
  arn,
]

/** An endpoint over an engine in a directory of its own, behind a proxy. */
async function startEndpoint(decide: (operation: string, body: string) => Fault | Promise<Fault>) {
  const directory = await emptyDirectory()
  const engine = await openEngine({ directory: join(directory, 'endpoint') })
  const server = await serve(engine)
  const proxy = await startFaultyProxy(server.url, decide)
  onTestFinished(async () => {
    proxy.close()
    await server.close()
    await engine.close()
  })
  return { url: proxy.url, engine }
}

/** Items of a table that is copied late, so that a copy can be interrupted before it is complete. */
async function addEvents(directory: string, count: number): Promise<void> {
  await onStore({ STRONGROOM_DATA: directory }, async (db) => {
    const text = 'x'.repeat(4_000)
    for (let first = 0; first < count; first += 25) {
      const events = Array.from({ length: 25 }, (_, at) => ({
        PutRequest: { Item: { PK: 'BULK', SK: String(first + at), text } },
      }))
      await db.batchWriteItem({ RequestItems: { 'ferryhook-events': events } })
    }
  })
}

function createKey(directory: string): void {
  const args = ['keys', 'create', '--id', 'during:copy', '--context', 'a=b']
  const { PATH, HOME } = process.env
  execFileSync(process.execPath, [launcher, ...args], {
    env: { PATH, HOME, STRONGROOM_DATA: directory },
  })
}

describe('a copy that is interrupted', () => {
  test('continues after a kill, and no server starts on the target before it has finished', async () => {
    const from = join(await allServices(), 'data')
    await addEvents(from, 4_000)
    const to = join(await emptyDirectory(), 'data')
    const first = start(['copy', '--from', from, '--to', to])
    running.push(first)
    let printed = ''
    while (!printed.includes('ferryhook-main: '))
      printed += String(await once(first.process.stderr!, 'data'))
    first.process.kill('SIGKILL')
    await first.finished

    const env = { STRONGROOM_DATA: to, PORT: '0' }
    for (const command of [['serve'], ['worker'], ['operator', 'add', 'x']]) {
      const refused = await inProcess(command, { env })
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining(
          `This store is an unfinished copy of ${from}: run "strongroom copy" again to finish it\n`,
        ),
      ])
    }
    const other = await run('--from', source, '--to', to)
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining(`The target is an unfinished copy of ${from}`),
    ])
    const chained = await run('--from', to, '--to', join(to, '..', 'third'))
    expect(chained.stderr).toContain('This store is an unfinished copy')

    const again = await run('--from', from, '--to', to, '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ resumed: true })
    expect(withoutWrapping(await itemsIn(to))).toEqual(withoutWrapping(await itemsIn(from)))
  })

  test('continues after the target was unreachable, also if responses to writes were lost', async () => {
    let writes = 0
    let isAway = false
    const target = await startEndpoint((operation) => {
      if (isAway) return 'refuse'
      if (operation !== 'BatchWriteItem') return undefined
      writes += 1
      if (writes === 6) isAway = true
      if (writes === 6) return 'refuse'
      return writes % 3 === 0
        ? 'drop'
        : writes % 4 === 0
          ? { error: 'ThrottlingException' }
          : undefined
    })
    const args = ['--from', source, '--to', target.url, ...kmsOptions('to'), '--create-tables']
    const failed = await run(...args)
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(
        /The target, http:\/\/\S+, failed \(\w+\)\. Check that it is running and can be reached\. Run the same command again to continue\.\n$/,
      ),
    ])
    isAway = false
    const finished = await run(...args)
    expect([finished.code, finished.stdout]).toEqual([
      0,
      expect.stringContaining('Copied and verified'),
    ])
    expect(withoutWrapping(await itemsOf(target.engine))).toEqual(
      withoutWrapping(await itemsIn(source)),
    )
  })
})

const canMount = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const probe = mkdtempSync(join(tmpdir(), 'strongroom-mount-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe])
  if (status === 0) spawnSync('umount', [probe])
  return status === 0
})()

test.runIf(canMount)(
  'a copy to a full disk continues when there is room',
  async () => {
    const from = join(await allServices(), 'data')
    await addEvents(from, 2_000)
    const disk = await emptyDirectory()
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk])
    onTestFinished(() => void spawnSync('umount', ['-l', disk]))
    const args = ['copy', '--from', from, '--to', join(disk, 'data')]
    const full = await strongroom(args)
    expect([full.code, full.stderr]).toEqual([
      1,
      expect.stringMatching(
        /The target, \S+, cannot be written: .*no space is left on its disk.* Run the same command again to continue\.\n$/s,
      ),
    ])
    spawnSync('mount', ['-o', 'remount,size=128m', disk])
    const finished = await strongroom(args)
    expect([finished.code, finished.stdout]).toEqual([
      0,
      expect.stringContaining('Copied and verified'),
    ])
    expect(withoutWrapping(await itemsIn(join(disk, 'data')))).toEqual(
      withoutWrapping(await itemsIn(from)),
    )
  },
  60_000,
)

describe('a copy of a source that changes', () => {
  test('is refused while a process uses the source, and complete if the command expects it', async () => {
    const cwd = await allServices()
    const [from, to] = [join(cwd, 'data'), join(cwd, 'copy')]
    const server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    running.push(server)
    await server.until('\n}\n')
    const refused = await run('--from', from, '--to', to)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The source is in use \(process \d+\): stop it, or pass --while-running; nothing was changed\n$/,
      ),
    ])
    const copied = await run('--from', from, '--to', to, '--while-running')
    expect([copied.code, copied.stdout]).toEqual([
      0,
      expect.stringContaining(
        'To finish, stop the source and run the command without --while-running.',
      ),
    ])
    server.process.kill('SIGTERM')
    await server.finished
    expect((await run('--from', from, '--to', to)).code).toBe(0)
    expect(withoutWrapping(await itemsIn(to))).toEqual(withoutWrapping(await itemsIn(from)))
    // The streams of the copy are ended.
    const engine = await openEngine({ directory: from })
    const { Table } = await engine.describeTable({ TableName: 'ferryhook-main' })
    await engine.close()
    expect(Table?.StreamSpecification).toBeUndefined()
  })

  test('has what streams reported: items that were created, changed and deleted after they were read', async () => {
    const from = join(await allServices(), 'data')
    const to = join(await emptyDirectory(), 'data')
    await addEvents(from, 25)
    await onStore({ STRONGROOM_DATA: from }, async (db) => {
      const change = async () => {
        const key = (SK: string) => ({ PK: 'BULK', SK })
        const put = (Item: { PK: string; SK: string }) =>
          db.putItem({ TableName: 'ferryhook-events', Item })
        await put(key('created'))
        await put(key('3'))
        await db.deleteItem({ TableName: 'ferryhook-events', Key: key('4') })
      }
      let changed: Promise<void> | undefined
      const { commands, run: runCommand } = await import('../src/run.ts')
      const code = await runCommand(
        ['copy', '--from', from, '--to', to, '--while-running'],
        commands,
        {
          env: {},
          out: () => {},
          error(line) {
            if (line.startsWith('ferryhook-events: ')) changed ??= change()
            // Only a stream shows a change of a table that was compared; the copy waits for this process.
            if (line.startsWith('slack-event-dedupe: comparing')) createKey(from)
          },
        },
      )
      expect([code, changed]).toEqual([0, expect.any(Promise)])
      await changed
    })
    const bulk = [...(await itemsIn(to))].filter(([key]) => key.includes(' BULK '))
    expect(bulk).toHaveLength(25)
    expect(bulk.find(([key]) => key.endsWith(' 3'))?.[1]).toEqual({ PK: 'BULK', SK: '3' })
    expect(bulk.map(([key]) => key)).toContain('ferryhook-events BULK created')
    const { code } = await inProcess(['keys', 'beacon', 'during:copy', '--reveal'], {
      env: { STRONGROOM_DATA: to },
    })
    expect(code).toBe(0)
  })

  test('fails with what to do if something writes to the source all the time', async () => {
    let isWriting = true
    let number = 0
    const changing = await startEndpoint(async (operation, body) => {
      if (!isWriting || operation !== 'Scan' || !body.includes('ferryhook-events')) return undefined
      await changing.engine.putItem({
        TableName: 'ferryhook-events',
        Item: { PK: 'BUSY', SK: 'item', number: ++number },
      })
      return undefined
    })
    isWriting = false
    const seed = ['--from', source, '--to', changing.url, '--create-tables']
    const seeded = await run(...seed, ...kmsOptions('to'))
    expect(seeded.code).toBe(0)
    isWriting = true
    const to = join(await emptyDirectory(), 'data')
    const args = ['--from', changing.url, ...kmsOptions('from'), '--to', to]
    const failed = await run(...args)
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(
        /The source changes during the copy \(1 items? in the last comparison\)\. Stop what writes to it, or pass --while-running, and run the command again\.\n$/,
      ),
    ])
    const expecting = await run(...args, '--while-running')
    expect([expecting.code, expecting.stdout]).toEqual([
      0,
      expect.stringContaining('The source kept changing: 1 item in the last round.'),
    ])
    isWriting = false
    expect((await run(...args)).code).toBe(0)
    expect(copiedItems(await itemsIn(to)).get('ferryhook-events BUSY item')).toMatchObject({
      number,
    })
  })
})

describe('a copy that cannot succeed', () => {
  const target = async () => join(await emptyDirectory(), 'data')

  test('names the permission that a policy lacks, and continues once it is granted', async () => {
    const store = await startEndpoint((operation) =>
      operation === 'BatchWriteItem' && isDenied ? { error: 'AccessDeniedException' } : undefined,
    )
    let isDenied = true
    const args = ['--from', source, '--to', store.url, '--create-tables']
    const denied = await run(...args, ...kmsOptions('to'))
    expect(denied.stderr).toContain(
      'refused dynamodb:BatchWriteItem. Allow it in the policy of your credentials. Run the same command again to continue.\n',
    )
    const proxy = await startFaultyProxy(kms.endpoint, (operation) =>
      operation === 'Encrypt' && isDenied ? { error: 'AccessDeniedException' } : undefined,
    )
    onTestFinished(() => proxy.close())
    const to = await target()
    const withKms = ['--from', source, '--to', to, ...kmsOptions('to', proxy.url)]
    const refused = await run(...withKms)
    expect(refused.stderr).toContain('refused Encrypt. Allow kms:Encrypt on the key.')
    isDenied = false
    expect((await run(...args, ...kmsOptions('to'))).code).toBe(0)
    expect((await run(...withKms)).code).toBe(0)
  })

  test('says which option is wrong, before anything is written', async () => {
    const before = await itemsIn(source)
    const missingKey = kms.arn.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000')
    const to = await target()
    const noKey = await run(
      '--from',
      source,
      '--to',
      to,
      ...kmsOptions('to', undefined, missingKey),
    )
    expect(noKey.stderr).toContain(
      `Cannot use the key of KMS endpoint at ${kms.endpoint} (NotFoundException): check --to-kms, --to-key`,
    )
    // The store was encrypted by its embedded KMS.
    const wrong = await run('--from', source, ...kmsOptions('from'), '--to', await target())
    expect(wrong.stderr).toContain(
      'cannot open what is stored: another KMS key wrapped it, or it was altered. Check --from-kms, --from-key and --from-master-key.',
    )
    const other = join(await allServices(), 'data', 'keys', 'none.key')
    const noMaster = await run('--from', source, '--from-master-key', other, '--to', await target())
    expect(noMaster.stderr).toContain('put it back, or set --from-master-key')
    const away = await run('--from', 'http://127.0.0.1:9', ...kmsOptions('from'), '--to', to)
    expect(away.stderr).toContain('Cannot reach the store at http://127.0.0.1:9')
    expect(away.stderr).toContain('correct --from\n')
    const nothing = await run('--from', join(to, 'nothing'), '--to', to)
    expect(nothing.stderr).toContain(`There is no store in ${join(to, 'nothing')}: set --from`)
    expect(await itemsIn(source)).toEqual(before)
  })

  test('is refused for a target with data, for the source itself, and for missing tables', async () => {
    const cwd = await emptyDirectory()
    await inProcess(['operator', 'add', 'ops'], { cwd })
    const full = await run('--from', source, '--to', join(cwd, 'data'))
    expect([full.code, full.stderr]).toEqual([
      1,
      'The target is not empty (strongroom-server): choose another one, or pass --overwrite to replace what it has; nothing was changed\n',
    ])
    const replaced = await run('--from', source, '--to', join(cwd, 'data'), '--overwrite')
    expect(replaced.code).toBe(0)
    expect(withoutWrapping(await itemsIn(join(cwd, 'data')))).toEqual(
      withoutWrapping(await itemsIn(source)),
    )
    const itself = await run('--from', source, '--to', join(source, '..', 'data'))
    expect([itself.code, itself.stderr]).toEqual([
      2,
      '--from and --to are the same store: choose another target\n',
    ])
    const bare = await startEndpoint(() => undefined)
    const noTables = await run('--from', source, '--to', bare.url, ...kmsOptions('to'))
    expect(noTables.stderr).toBe(
      'The target has no table strongroom-server: pass --create-tables, deploy the tables, or correct --to-prefix\n',
    )
  })

  test("is refused while one of AWS's libraries moves a branch key", async () => {
    const from = join(await allServices(), 'data')
    await onStore({ STRONGROOM_DATA: from }, (db) =>
      db.putItem({
        TableName: 'strongroom-branch-keys',
        Item: { 'branch-key-id': 'key', type: 'branch:MUTATION_COMMITMENT', enc: 'x' },
      }),
    )
    const { code, stderr } = await run('--from', from, '--to', await target())
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('finish that first, with the library that began it'),
    ])
  })

  test('is refused for options that contradict each other', async () => {
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await run(...args)
      return [code, stderr.trim()]
    }
    expect(await refusal('--from', source)).toEqual([
      2,
      '--to is missing: pass a data directory, an endpoint such as http://127.0.0.1:8000, or aws',
    ])
    expect(await refusal('--from', source, '--to', 'http://127.0.0.1:9')).toEqual([
      2,
      '--to http://127.0.0.1:9 needs a KMS: pass --to-kms with an endpoint or aws, and --to-key',
    ])
    const kinds = ['--from', source, '--to', await target()]
    expect(await refusal(...kinds, '--to-kms', 'gcp')).toEqual([
      2,
      '--to-kms must be embedded, aws, or an endpoint such as http://…',
    ])
    expect(await refusal('--from', source, '--to', 'aws')).toEqual([
      1,
      '--to aws needs a region: set AWS_REGION',
    ])
  })
})
