/**
 * Two key stores on one table and one KMS: ours and that of AWS's library, on every store and over
 * every face of the embedded KMS.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openEngine } from '@strongroom/engine/engine'
import { embedded } from '@strongroom/engine/wire/sdk'
import { createAwsDb } from '@strongroom/kit/aws-db'
import { systemClock } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { afterAll, beforeAll, inject } from 'vitest'
import { type CachedBranchKeys, cachedBranchKeys } from '../../src/cache.ts'
import { createKeyStore } from '../../src/aws/create-key-store.ts'
import { createEnvelope, type Envelope } from '../../src/envelope/envelope.ts'
import { type KeyStore, openKeyStore } from '../../src/store/key-store.ts'
import { createKeyStorage } from '../../src/store/storage.ts'
import { LOGICAL_KEY_STORE_NAME } from '../../src/tables.ts'
import { type KmsFace, kmsFaces } from './kms-faces.ts'

interface Store {
  name: string
  open(): Promise<{ db: Db; client: DynamoDBClient; close(): Promise<void> }>
}

export interface Interop {
  db: Db
  tableName: string
  ours: KeyStore
  /** Ours on another Db. */
  oursOn(db: Db): KeyStore
  theirs: BranchKeyStoreNode
  /** The operations that KMS was asked for. */
  kmsCalls: string[]
  /** A new, empty cache on our key store. */
  cached(): CachedBranchKeys
  envelope: Envelope
}

export function interopCases(): { name: string; store: Store; face: KmsFace }[] {
  const endpoint = inject('dynamodbLocal')
  const stores = endpoint === null ? [onEngine] : [onEngine, onDynamodbLocal(endpoint)]
  return stores.flatMap((store) =>
    kmsFaces().map((face) => ({ name: `${store.name} with ${face.name}`, store, face })),
  )
}

/** The two that differ in everything, for what depends on neither store nor KMS as much. */
export function interopCorners() {
  const cases = interopCases()
  return [...cases.slice(0, 1), ...cases.slice(-1)]
}

export function openInterop({ store, face }: { store: Store; face: KmsFace }): Interop {
  const opened = {} as Interop & { close(): Promise<void> }
  beforeAll(async () => {
    const { db, client, close: closeStore } = await store.open()
    const kmsCalls: string[] = []
    const embeddedKms = await createKms({
      masterKey: new Uint8Array(32).fill(2),
      storage: memoryKeyStorage(),
      audit: ({ operation }) => void kmsCalls.push(operation),
    })
    const { Arn: arn } = (await embeddedKms.createKey()).KeyMetadata
    const { kms, client: kmsClient, close: closeKms } = await face.open(embeddedKms)
    const tableName = `branch-keys-${randomUUID()}`
    await createKeyStore({ db, tableName })

    const oursOn = (on: Db) =>
      openKeyStore({
        storage: createKeyStorage({
          db: on,
          tableName,
          logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
        }),
        kms,
        kmsConfiguration: { kind: 'kmsKeyArn', arn },
      })
    const ours = oursOn(db)
    const theirs = new BranchKeyStoreNode({
      logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
      storage: { ddbTableName: tableName, ddbClient: client },
      keyManagement: { kmsClient },
      kmsConfiguration: { identifier: arn },
    })
    const cached = () =>
      cachedBranchKeys(ours, { clock: systemClock, ttlSeconds: 600, capacity: 1000 })
    const envelope = createEnvelope({ keyStore: ours, branchKeys: cached() })
    const close = async () => {
      await closeKms()
      await closeStore()
    }
    Object.assign(opened, {
      db,
      tableName,
      ours,
      oursOn,
      theirs,
      kmsCalls,
      cached,
      envelope,
      close,
    })
  })
  afterAll(() => opened.close())
  return opened
}

const onEngine: Store = {
  name: 'the embedded engine',
  async open() {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    const engine = await openEngine({ directory })
    const client = new DynamoDBClient({ ...embedded(engine) })
    return {
      db: engine,
      client,
      async close() {
        client.destroy()
        await engine.close()
        await rm(directory, { recursive: true })
      },
    }
  },
}

function onDynamodbLocal(endpoint: string): Store {
  return {
    name: 'DynamoDB Local',
    async open() {
      const config = {
        endpoint,
        region: 'eu-central-1',
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      }
      const db = createAwsDb(config)
      const client = new DynamoDBClient(config)
      return {
        db,
        client,
        async close() {
          client.destroy()
          db.close()
        },
      }
    },
  }
}
