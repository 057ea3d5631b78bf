/** Copies of stores that succeed, between a directory, an endpoint and two KMS. */
import { createHash, createHmac } from 'node:crypto'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { KMSClient } from '@aws-sdk/client-kms'
import { branchKeysTable } from '@strongroom/key-store/tables'
import type { Db } from '@strongroom/kit/db'
import { secretContext } from '@strongroom/kit/secret-versions'
import { serverTable } from '@strongroom/kit/server-table'
import type { OpenKms } from '@strongroom/server/kms/open'
import { totpContext } from '@strongroom/server/sessions/second-factors'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import {
  allServices,
  copiedItems,
  credentials,
  exactItem,
  itemsOf,
  keysByAws,
  keysByAwsIn,
  known,
  onStore,
  startKms,
  TOTP_SECRET,
  withoutWrapping,
} from './copied-stores.ts'
import { startFaultyProxy } from './faulty-proxy.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

const running: Running[] = []
afterAll(() => {
  for (const { process } of running) process.kill('SIGKILL')
})

async function copy(args: string[], env: Record<string, string> = credentials) {
  const finished = await inProcess(['copy', ...args, '--json'], { env })
  expect([finished.code, finished.stderr.replaceAll(/^Created .*\n/gm, '')]).toEqual([0, ''])
  return JSON.parse(finished.stdout) as {
    items: number
    rewrapped: number
    corrected: number
    tables: { table: string; items: number; checksum: string; skipped: number }[]
  }
}

/** The server secrets and the secret of an authenticator app, as the store's own KMS opens them. */
async function openSecrets(db: Db, { key }: OpenKms): Promise<string[]> {
  const opened: string[] = []
  const open = async (blob: unknown, EncryptionContext: Record<string, string>) => {
    const { Plaintext } = await key.kms.decrypt({
      KeyId: key.arn,
      CiphertextBlob: blob as Uint8Array,
      EncryptionContext,
    })
    opened.push(Buffer.from(Plaintext).toString('hex'))
  }
  for (const [name, item] of await itemsOf(db)) {
    if (name.startsWith(`${serverTable.name} SECRET#`)) {
      const { name: secret, version } = item as { name: string; version: number }
      await open(item['sealed'], secretContext({ name: secret, version }))
    }
    if (name.endsWith(' SECOND_FACTOR'))
      await open((item['totp'] as { sealed: Uint8Array }).sealed, totpContext('ada'))
  }
  return opened.toSorted()
}

/** What a server on the store responds; it opens secrets of operators, sites and branch keys. */
async function askServer(cwd: string, env: Record<string, string>) {
  const server = start(['serve', '--json'], {
    cwd,
    env: { PORT: '0', FORM_BRIDGE_ALLOW_HTTP: 'true', ...env },
  })
  running.push(server)
  const { url } = JSON.parse(await server.until('\n}\n')) as { url: string }
  const client = {
    STRONGROOM_SERVER: url,
    STRONGROOM_TOKEN: known.operatorToken,
    FERRYHOOK_API_KEY: known.apiKey,
  }
  const run = async (...args: string[]) => {
    const { code, stdout } = await inProcess([...args, '--json'], { env: client })
    return [code, stdout.replaceAll(url, 'http://server')]
  }
  const shown = [
    await run('sources', 'list'),
    await run('connections', 'list'),
    await run('sites', 'show', known.site.site_id),
    await run('slack', 'apps'),
    await submit(url, known.site.webhook_secret),
    await submit(url, 'another'),
  ]
  server.process.kill('SIGTERM')
  await server.finished
  return shown
}

/** Sends a form of the site, which the server verifies with a secret that it has to decrypt. */
async function submit(url: string, secret: string) {
  const path = '/form-bridge/v1/webhook'
  const body = JSON.stringify({
    submission_id: createHash('sha256').update(url).digest('hex').slice(0, 32),
    form_id: 'contact',
    submitted_at: new Date().toISOString(),
    fields: { name: 'Ada' },
  })
  const timestamp = Math.floor(Date.now() / 1000)
  const nonce = createHash('sha256')
    .update(url + secret)
    .digest('hex')
    .slice(0, 32)
  const digest = createHash('sha256').update(body).digest('hex')
  const signed = `FB1\n${timestamp}\n${nonce}\nPOST\n${path}\n${digest}`
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-fb-site': known.site.site_id,
      'x-fb-timestamp': String(timestamp),
      'x-fb-nonce': nonce,
      'x-fb-signature': `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`,
      'x-fb-home': known.siteUrl,
    },
    body,
  })
  return ((await response.json()) as { error?: { code: string } }).error?.code
}

const local = inject('dynamodbLocal')

describe.runIf(local)('a store that is copied to DynamoDB with another KMS and back', () => {
  const endpoint = local ?? ''
  const prefix = `copy${process.pid}-`
  let cwd: string
  let back: string
  let shared: Record<string, string>
  let there: Awaited<ReturnType<typeof copy>>
  let returned: Awaited<ReturnType<typeof copy>>

  beforeAll(async () => {
    cwd = await allServices()
    back = await emptyDirectory()
    const kms = await startKms(running)
    shared = {
      ...credentials,
      DYNAMODB_ENDPOINT: endpoint,
      STRONGROOM_TABLE_PREFIX: prefix,
      KMS_ENDPOINT: kms.endpoint,
      KMS_KEY_ARN: kms.arn,
    }
    const side = (name: string) => [
      `--${name}`,
      endpoint,
      `--${name}-prefix`,
      prefix,
      `--${name}-kms`,
      kms.endpoint,
      `--${name}-key`,
      kms.arn,
    ]
    // The SDK of this process reads them from the environment.
    Object.assign(process.env, credentials)
    there = await copy(['--from', join(cwd, 'data'), ...side('to'), '--create-tables'])
    returned = await copy([...side('from'), '--to', join(back, 'data')])
  }, 120_000)
  afterAll(() => {
    for (const name of Object.keys(credentials)) Reflect.deleteProperty(process.env, name)
  })

  const original = <T>(work: (db: Db, kms: OpenKms) => Promise<T>) =>
    onStore({ STRONGROOM_DATA: join(cwd, 'data') }, work)
  const copied = <T>(work: (db: Db, kms: OpenKms) => Promise<T>) => onStore(shared, work)
  const final = <T>(work: (db: Db, kms: OpenKms) => Promise<T>) =>
    onStore({ STRONGROOM_DATA: join(back, 'data') }, work)

  test('has the same items everywhere, byte for byte where nothing is wrapped', async () => {
    const items = withoutWrapping(await original(itemsOf))
    expect(items.size).toBeGreaterThan(20)
    expect(items.get('ferryhook-events EXACT values')).toEqual(exactItem)
    expect(withoutWrapping(await copied(itemsOf))).toEqual(items)
    expect(withoutWrapping(await final(itemsOf))).toEqual(items)
  })

  test('is reported with the same counts and checksums in both directions', () => {
    const sums = ({ tables }: typeof there) =>
      tables
        .filter(({ table }) => table !== 'strongroom-operations')
        .map(({ table, items, checksum }) => ({ table, items, checksum }))
    // The ARN of the KMS key is part of a branch key, so its checksum differs.
    const withoutKeys = (all: ReturnType<typeof sums>) =>
      all.filter(({ table }) => table !== 'strongroom-branch-keys')
    expect(withoutKeys(sums(returned))).toEqual(withoutKeys(sums(there)))
    expect(there.rewrapped).toBe(18)
    expect(returned.rewrapped).toBe(18)
    expect(there.tables.find(({ table }) => table === 'ferryhook-events')?.skipped).toBeGreaterThan(
      0,
    )
    expect(there.tables.map(({ table }) => table)).not.toContain('sealed-secrets')
  })

  test("has branch keys that AWS's own library opens on every side", async () => {
    const keys = await keysByAwsIn(join(cwd, 'data'))
    const config = {
      region: 'us-east-1',
      credentials: {
        accessKeyId: credentials.AWS_ACCESS_KEY_ID,
        secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY,
      },
    }
    const ddbClient = new DynamoDBClient({ ...config, endpoint })
    const { KMS_ENDPOINT = '', KMS_KEY_ARN = '' } = shared
    const kms = new KMSClient({ ...config, endpoint: KMS_ENDPOINT })
    const storage = { ddbTableName: prefix + branchKeysTable.name, ddbClient }
    expect(await keysByAws(storage, kms, KMS_KEY_ARN)).toEqual(keys)
    for (const each of [ddbClient, kms]) each.destroy()
    expect(await keysByAwsIn(join(back, 'data'))).toEqual(keys)
    const beacon = await inProcess(['keys', 'beacon', 'key', '--reveal', '--json'], { env: shared })
    expect(JSON.parse(beacon.stdout)).toMatchObject({ beaconKey: known.beaconKey })
  })

  test('has server secrets and second factors that the KMS of each side opens', async () => {
    const secrets = await original(openSecrets)
    expect(secrets).toHaveLength(3)
    expect(secrets).toContain(TOTP_SECRET.toString('hex'))
    expect(await copied(openSecrets)).toEqual(secrets)
    expect(await final(openSecrets)).toEqual(secrets)
  })

  test('has the keys of no embedded KMS, and the audit log says where it came from', async () => {
    const names = [...(await copied(itemsOf)).keys()]
    expect(names.filter((name) => name.includes('KMSKEY'))).toEqual([])
    const { stdout } = await inProcess(['audit', 'list', '--json'], { env: shared })
    expect(stdout).toContain('"server.store.copied"')
    const verified = await inProcess(['audit', 'verify'], { env: shared })
    expect(verified.code).toBe(0)
  })

  test('serves the same accounts, sources, sites and secrets from each side', async () => {
    const responses = await askServer(cwd, { STRONGROOM_DATA: join(cwd, 'data') })
    expect(responses.slice(-2)).toEqual([
      'form-bridge.destination_unreachable',
      'form-bridge.unauthorized',
    ])
    expect(await askServer(cwd, shared)).toEqual(responses)
    expect(await askServer(back, { STRONGROOM_DATA: join(back, 'data') })).toEqual(responses)
  })
})

describe('a store that is copied to another directory', () => {
  test('leaves out secrets of Sealed, unless the command includes those that can be opened', async () => {
    const cwd = await allServices()
    const secret = {
      ciphertext: 'AAAA',
      remainingViews: 1,
      expiresAt: 4_102_444_800,
    }
    await onStore({ STRONGROOM_DATA: join(cwd, 'data') }, async (db) => {
      const put = (Item: object) => db.putItem({ TableName: 'sealed-secrets', Item: Item as never })
      await put({ id: 'live', ...secret })
      await put({ id: 'used', ...secret, remainingViews: 0 })
      await put({ id: 'expired', ...secret, expiresAt: 1 })
      await put({ id: 'tombstone', expiresAt: secret.expiresAt })
    })
    const secretsIn = (directory: string) =>
      onStore({ STRONGROOM_DATA: directory }, async (db) =>
        [...(await itemsOf(db)).keys()].filter((name) => name.startsWith('sealed-secrets ')),
      )
    const from = ['--from', join(cwd, 'data')]
    const without = await inProcess(['copy', ...from, '--to', join(cwd, 'without')])
    expect(without.stdout).toContain('sealed-secrets was not copied')
    expect(await secretsIn(join(cwd, 'without'))).toEqual([])
    const sealed = await inProcess(['copy', ...from, '--to', join(cwd, 'with'), '--with-sealed'])
    expect(sealed.stdout).toContain(
      'one that is opened or burned at the source from now on can still be opened at the target',
    )
    expect(await secretsIn(join(cwd, 'with'))).toEqual(['sealed-secrets live '])
  })

  test('is brought up to date by the same command until a server has started on it', async () => {
    const cwd = await allServices()
    const [from, to] = [join(cwd, 'data'), join(cwd, 'copy')]
    await copy(['--from', from, '--to', to])
    await inProcess(['keys', 'create', '--id', 'new:key', '--context', 't=1'], { cwd })
    await onStore({ STRONGROOM_DATA: from }, (db) =>
      db.deleteItem({ TableName: 'ferryhook-events', Key: { PK: 'EXACT', SK: 'values' } }),
    )
    const again = await copy(['--from', from, '--to', to])
    // Three items of the key, the deleted one, and the audit log of the first copy.
    expect(again.corrected).toBeGreaterThanOrEqual(4)
    const itemsIn = (directory: string) => onStore({ STRONGROOM_DATA: directory }, itemsOf)
    const now = withoutWrapping(await itemsIn(from))
    expect(withoutWrapping(await itemsIn(to))).toEqual(now)

    const server = start(['serve', '--json', '--data', to], { cwd, env: { PORT: '0' } })
    running.push(server)
    await server.until('\n}\n')
    const during = await inProcess(['copy', '--from', from, '--to', to])
    expect(during.stderr).toMatch(/^The target is in use \(process \d+\): stop it/)
    server.process.kill('SIGTERM')
    await server.finished
    const { code, stderr } = await inProcess(['copy', '--from', from, '--to', to])
    expect([code, stderr]).toEqual([1, expect.stringContaining('The target is not empty')])
    await copy(['--from', from, '--to', to, '--overwrite'])
    expect(copiedItems(await itemsIn(to)).size).toBe(now.size)
  })

  test('has keys that never left the KMS if both sides use the same one', async () => {
    const { endpoint, arn } = await startKms(running)
    const calls: string[] = []
    const proxy = await startFaultyProxy(endpoint, (operation) => void calls.push(operation))
    onTestFinished(() => proxy.close())
    Object.assign(process.env, credentials)
    const cwd = await allServices()
    const [first, second] = [join(cwd, 'first'), join(cwd, 'second')]
    const kmsOf = (side: string) => [`--${side}-kms`, proxy.url, `--${side}-key`, arn]
    await copy(['--from', join(cwd, 'data'), '--to', first, ...kmsOf('to')])
    calls.length = 0
    await copy(['--from', first, ...kmsOf('from'), '--to', second, ...kmsOf('to')])
    for (const name of Object.keys(credentials)) Reflect.deleteProperty(process.env, name)
    expect(new Set(calls)).toEqual(new Set(['DescribeKey', 'ReEncrypt']))
    const env = {
      ...credentials,
      STRONGROOM_DATA: second,
      KMS_ENDPOINT: endpoint,
      KMS_KEY_ARN: arn,
    }
    const beacon = await strongroom(['keys', 'beacon', 'key', '--reveal', '--json'], { env })
    expect(JSON.parse(beacon.stdout)).toMatchObject({ beaconKey: known.beaconKey })
  })

  test('can have another prefix in the same directory, with a KMS key of its own', async () => {
    const cwd = await allServices()
    const data = join(cwd, 'data')
    const { rewrapped } = await copy(['--from', data, '--to', data, '--to-prefix', 'b-'])
    expect(rewrapped).toBe(18)
    const env = { STRONGROOM_DATA: data, STRONGROOM_TABLE_PREFIX: 'b-' }
    const { stdout } = await inProcess(['keys', 'beacon', 'key', '--reveal', '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ beaconKey: known.beaconKey })
  })
})
