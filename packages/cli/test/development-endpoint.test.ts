/**
 * The recipe for development: a DynamoDB endpoint on this machine, `DYNAMODB_ENDPOINT` and
 * `strongroom tables create` are enough to start a server. The keys of its KMS are in the data directory.
 */
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { claimFirstAdmin } from './first-admin.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

const local = inject('dynamodbLocal')

describe.each([
  { store: 'strongroom dynamodb', endpoint: undefined },
  ...(local === null ? [] : [{ store: 'DynamoDB Local', endpoint: local }]),
])('a server for development on $store', ({ endpoint }) => {
  const running: Running[] = []
  let env: Record<string, string>

  beforeAll(async () => {
    let address = endpoint
    if (address === undefined) {
      const cwd = await emptyDirectory()
      const server = start(['dynamodb', '--port', '0', '--json'], { cwd })
      running.push(server)
      address = (JSON.parse(await server.until('\n}\n')) as { url: string }).url
    }
    env = {
      DYNAMODB_ENDPOINT: address,
      STRONGROOM_TABLE_PREFIX: `dev${process.pid}-`,
      PORT: '0',
    }
  })
  afterAll(() => {
    for (const { process } of running) process.kill('SIGKILL')
  })

  const serve = async (cwd: string, own: Record<string, string>) => {
    const server = start(['serve', '--json'], { cwd, env: own })
    running.push(server)
    const printed = await server.until('\n}\n')
    const { url, notices } = JSON.parse(printed) as { url: string; notices: string[] }
    const stop = async () => {
      server.process.kill('SIGTERM')
      return (await server.finished).code
    }
    return { printed, url, notices, stop }
  }

  test('starts, finds its keys again after a restart, and refuses to start without them', async () => {
    const cwd = await emptyDirectory()
    const early = await inProcess(['serve'], { cwd, env })
    expect([early.code, early.stderr]).toEqual([
      1,
      expect.stringContaining('run "strongroom tables create"'),
    ])
    const created = await inProcess(['tables', 'create'], { cwd, env })
    expect([created.code, created.stdout]).toEqual([0, '10 of 10 tables created\n'])
    expect(await readdir(cwd)).toEqual([])

    const first = await serve(cwd, env)
    expect(first.notices).toContainEqual(
      expect.stringMatching(/^For development only: the keys .* are in .*\/data on this machine\./),
    )
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    const token = await claimFirstAdmin(first.printed)
    const client = { STRONGROOM_SERVER: first.url, STRONGROOM_TOKEN: token }
    const status = await inProcess(['status', '--json'], { env: client })
    expect([status.code, JSON.parse(status.stdout).problems]).toEqual([
      0,
      [
        expect.objectContaining({
          severity: 'warn',
          title: 'The embedded KMS is used with a DynamoDB endpoint',
        }),
      ],
    ])
    const key = await inProcess(
      ['keys', 'create', '--id', 'tenant', '--context', 'a=b', '--json'],
      { env: client },
    )
    expect([key.code, key.stderr]).toEqual([0, ''])
    expect(await first.stop()).toBe(0)

    const second = await serve(cwd, env)
    expect(second.url).not.toBe('')
    const beacon = ['keys', 'beacon', 'tenant', '--reveal', '--local', '--json']
    const opened = await inProcess(beacon, { cwd, env })
    expect([opened.code, opened.stderr]).toEqual([0, ''])
    const kms = await inProcess(['kms', 'status', '--json'], { cwd, env })
    expect([kms.code, JSON.parse(kms.stdout)]).toEqual([
      0,
      expect.objectContaining({
        problem: null,
        key: expect.objectContaining({ state: 'Enabled' }),
      }),
    ])
    expect(await second.stop()).toBe(0)

    await rename(join(cwd, 'data'), join(cwd, 'elsewhere'))
    const missing = await strongroom(['serve'], { cwd, env })
    expect([missing.code, missing.stdout, missing.stderr]).toEqual([
      1,
      '',
      `What is stored at ${env['DYNAMODB_ENDPOINT']} is encrypted with a key of the embedded KMS that is not in ${join(cwd, 'data')}: set STRONGROOM_DATA to the data directory of the first start, or put it back. If you do not need the data, delete the tables and run "strongroom tables create"\n`,
    ])
    expect(await readdir(cwd)).toEqual(['elsewhere'])
    // Another directory with keys of its own is refused too.
    const other = { STRONGROOM_TABLE_PREFIX: env['STRONGROOM_TABLE_PREFIX'] ?? '', PORT: '0' }
    await (await serve(cwd, other)).stop()
    const wrong = await strongroom(['serve'], { cwd, env })
    expect([wrong.code, wrong.stderr]).toEqual([1, missing.stderr])

    const found = await serve(cwd, { ...env, STRONGROOM_DATA: join(cwd, 'elsewhere') })
    expect(await found.stop()).toBe(0)
  })
})

test('an endpoint on another machine and AWS need a KMS that is not on this machine', async () => {
  const cwd = await emptyDirectory()
  for (const env of [
    { STRONGROOM_STORE: 'aws', AWS_REGION: 'eu-central-1', STRONGROOM_KMS: 'embedded' },
    { DYNAMODB_ENDPOINT: 'http://10.255.255.1:8000' },
  ]) {
    const { code, stdout, stderr } = await inProcess(['serve'], { cwd, env: { PORT: '0', ...env } })
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^A shared store requires a shared KMS: set KMS_KEY_ARN, and /),
    ])
    expect(await readdir(cwd)).toEqual([])
  }
})
