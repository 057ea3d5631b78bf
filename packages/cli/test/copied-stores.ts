/** Stores with data of every service, and what they contain, for tests of copies. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { KMSClient } from '@aws-sdk/client-kms'
import { openEngine } from '@strongroom/engine/engine'
import { embedded as embeddedDb } from '@strongroom/engine/wire/sdk'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '@strongroom/key-store/tables'
import type { Db, Item } from '@strongroom/kit/db'
import { scanAll } from '@strongroom/kit/paging'
import { NumberValue } from '@strongroom/kit/number-value'
import { serverTable } from '@strongroom/kit/server-table'
import type { EmbeddedKms } from '@strongroom/kms/kms'
import { embedded as embeddedKms } from '@strongroom/kms/sdk'
import { everyTable } from '@strongroom/server/data-model'
import { type OpenKms, openKms } from '@strongroom/server/kms/open'
import { totpContext } from '@strongroom/server/sessions/second-factors'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { expect } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

/** Credentials of the store in `all-services.backup`. */
export const known = JSON.parse(readFileSync(fixture('all-services.json'), 'utf8')) as {
  apiKey: string
  operatorToken: string
  sourceId: string
  site: { site_id: string; webhook_secret: string }
  siteUrl: string
  beaconKey: string
}

export const TOTP_SECRET = Buffer.from('a secret of twenty b')

/** What only some stores return as it was written. */
export const exactItem: Item = {
  PK: 'EXACT',
  SK: 'values',
  digits: new NumberValue('12345678901234567890123456789012345678'),
  small: 1.5e-100,
  fraction: 0.1,
  bytes: Uint8Array.of(0, 255, 128, 10),
  texts: new Set(['b', 'a', 'ü']),
  numbers: new Set([3, 1.5, 2]),
  binaries: new Set([Uint8Array.of(2), Uint8Array.of(1)]),
  nested: { list: [1, 'two', null, true, { deep: Uint8Array.of(7) }], nothing: null },
  expiresAt: 4_102_444_800,
}

/** A data directory with all services in use, an operator with a second factor, and unusual values. */
export async function allServices(): Promise<string> {
  const cwd = await emptyDirectory()
  const { code, stderr } = await inProcess(['restore', fixture('all-services.backup')], { cwd })
  expect([code, stderr.includes('Created a store')]).toEqual([0, true])
  await inProcess(['tables', 'create'], { cwd })
  await onStore({ STRONGROOM_DATA: join(cwd, 'data') }, async (db, kms) => {
    const { CiphertextBlob: sealed } = await kms.key.kms.encrypt({
      KeyId: kms.key.arn,
      Plaintext: TOTP_SECRET,
      EncryptionContext: totpContext('ada'),
    })
    await db.putItem({
      TableName: serverTable.name,
      Item: {
        PK: 'OPERATOR#ada',
        SK: 'SECOND_FACTOR',
        revision: '1',
        totp: { sealed, createdAt: 1, lastStep: 1 },
      },
    })
    const expired = { ...exactItem, SK: 'expired', expiresAt: 1 }
    for (const Item of [exactItem, expired])
      await db.putItem({ TableName: 'ferryhook-events', Item })
  })
  return cwd
}

/** Opens a store and its KMS as a server with these settings does. */
export async function onStore<T>(
  env: Record<string, string>,
  work: (db: Db, kms: OpenKms) => Promise<T>,
): Promise<T> {
  const configured = settings.parse(env)
  const store = await openStore(configured, { mayCreate: false })
  try {
    const kms = await openKms(configured, store, { clock: { now: () => Date.now() } })
    try {
      return await work(store.db, kms)
    } finally {
      await kms.close()
    }
  } finally {
    await store.close()
  }
}

export async function itemsOf(db: Db): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  for (const table of everyTable) {
    const key = [table.partitionKey.name, table.sortKey?.name ?? '']
    for await (const item of scanAll(db, table, {}, (each) => each))
      items.set(`${table.name} ${key.map((name) => String(item[name] ?? '')).join(' ')}`, item)
  }
  return items
}

/** Without what has expired or belongs to one store, and the entry that says that it was copied. */
export function copiedItems(items: Map<string, Item>): Map<string, Item> {
  const own = /^strongroom-server (?:KMSKEY|COPY)|^strongroom-operations (?:FIGURES|BACKUP|AUDIT)/
  const isExpired = ({ expiresAt, ttl }: Item) => Number(expiresAt ?? ttl) * 1000 <= Date.now()
  return new Map([...items].filter(([key, item]) => !own.test(key) && !isExpired(item)))
}

/** Without ciphertexts of KMS and the key that they name. */
export function withoutWrapping(items: Map<string, Item>): Map<string, Item> {
  const without = ({ enc: _enc, 'kms-arn': _arn, sealed: _sealed, totp, ...item }: Item): Item => ({
    ...item,
    ...(totp !== undefined && { totp: Object.keys(totp as object).toSorted() }),
  })
  const isWrapped = /^strongroom-branch-keys |^strongroom-server (?:SECRET#|OPERATOR#ada)/
  return new Map(
    [...copiedItems(items)].map(([key, item]) => [key, isWrapped.test(key) ? without(item) : item]),
  )
}

/** The active branch keys and one beacon key, as AWS's own library opens them. */
export async function keysByAws(
  storage: { ddbTableName: string; ddbClient: DynamoDBClient },
  kmsClient: KMSClient,
  arn: string,
): Promise<Map<string, string>> {
  const keyStore = new BranchKeyStoreNode({
    logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
    storage,
    keyManagement: { kmsClient },
    kmsConfiguration: { identifier: arn },
  })
  const found = new Map<string, string>()
  for (const id of BRANCH_KEYS) {
    const active = await keyStore.getActiveBranchKey(id)
    const version = active.branchKeyVersion.toString('utf8')
    const again = await keyStore.getBranchKeyVersion(id, version)
    const key = active.branchKey().toString('hex')
    expect(again.branchKey().toString('hex')).toBe(key)
    found.set(`${id} ${version}`, key)
  }
  return found
}

const BRANCH_KEYS = ['key', 'two-key:demo', 'form-bridge:sites']

export async function keysByAwsIn(directory: string): Promise<Map<string, string>> {
  const engine = await openEngine({ directory })
  try {
    return await onStore({ STRONGROOM_DATA: directory }, async (_db, { key }) => {
      const client = new DynamoDBClient({ ...embeddedDb(engine) })
      const kms = new KMSClient({ ...embeddedKms(key.kms as EmbeddedKms) })
      const storage = { ddbTableName: branchKeysTable.name, ddbClient: client }
      return keysByAws(storage, kms, key.arn)
    })
  } finally {
    await engine.close()
  }
}

export const credentials = { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'test-secret' }

/** A KMS of its own, over HTTP. */
export async function startKms(running: Running[]): Promise<{ endpoint: string; arn: string }> {
  const cwd = await emptyDirectory()
  const server = start(['kms', 'serve', '--port', '0'], { cwd, env: credentials })
  running.push(server)
  const printed = await server.until('Press Ctrl+C to stop')
  const [, endpoint = ''] = /KMS_ENDPOINT=(\S+)/.exec(printed) ?? []
  const [, arn = ''] = /KMS_KEY_ARN=(\S+)/.exec(printed) ?? []
  return { endpoint, arn }
}
