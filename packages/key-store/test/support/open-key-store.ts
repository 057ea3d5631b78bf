/** A key store on a test store and the embedded KMS, with a record of what it asks of KMS. */
import type { Item, Value } from '@strongroom/kit/db'
import type { Kms } from '@strongroom/kit/kms'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { createKms, type EmbeddedKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { beforeAll } from 'vitest'
import { type KeyStore, type KeyStoreOptions, openKeyStore } from '../../src/store/key-store.ts'
import { rawItem, TABLE } from './branch-keys.ts'
import { openKeyStorage } from './open-storage.ts'

export type KmsCall = [operation: keyof Kms, input: object]

interface Opened {
  /** KMS in us-west-2, and the same in eu-west-1 with the replicas of its multi-Region keys. */
  kms: EmbeddedKms
  elsewhere: EmbeddedKms
  /** A key of us-west-2, another one, and a multi-Region key in both regions. */
  arn: string
  otherArn: string
  mrkArn: string
  mrkArnElsewhere: string
  clock: TestClock
}

export function openTestKeyStore(store: TestStore) {
  const storage = openKeyStorage(store)
  const opened = Object.assign(storage, {} as Opened)

  beforeAll(async () => {
    const keys = memoryKeyStorage()
    const masterKey = new Uint8Array(32).fill(7)
    const kmsIn = (region: string) =>
      createKms({ masterKey, storage: keys, partition: 'aws', account: '111122223333', region })
    const newArn = async (MultiRegion: boolean) => {
      const { KeyMetadata } = await opened.kms.createKey({ MultiRegion })
      return KeyMetadata.Arn
    }
    opened.kms = await kmsIn('us-west-2')
    opened.elsewhere = await kmsIn('eu-west-1')
    opened.arn = await newArn(false)
    opened.otherArn = await newArn(false)
    opened.mrkArn = await newArn(true)
    opened.mrkArnElsewhere = opened.mrkArn.replace('us-west-2', 'eu-west-1')
    opened.clock = testClock('2100-01-01T18:15:17.223Z')
  })

  /** A key store under the first key by default, and its calls to KMS. */
  function open(options: Partial<KeyStoreOptions> = {}): { keyStore: KeyStore; calls: KmsCall[] } {
    const calls: KmsCall[] = []
    const keyStore = openKeyStore({
      storage: opened.storage,
      kmsConfiguration: { kind: 'kmsKeyArn', arn: opened.arn },
      clock: opened.clock,
      ...options,
      kms: recording(options.kms ?? opened.kms, calls),
    })
    return { keyStore, calls }
  }

  /** What is stored under a type, as the store has it. */
  async function item(id: string, type: string): Promise<Item> {
    const found = await rawItem(opened.db, id, type)
    if (!found) throw new Error(`There is no ${type}`)
    return found
  }

  /** Changes an item behind the back of the key store; undefined takes an attribute away. */
  async function tamper(id: string, type: string, change: Record<string, Value | undefined>) {
    const changed = { ...(await item(id, type)), ...change }
    const kept = Object.entries(changed).filter(([, value]) => value !== undefined)
    await opened.db.putItem({ TableName: TABLE, Item: Object.fromEntries(kept) as Item })
  }

  /** All items of a branch key. */
  async function items(id: string): Promise<Item[]> {
    const { Items = [] } = await opened.db.query({
      TableName: TABLE,
      KeyConditionExpression: '#id = :id',
      ExpressionAttributeNames: { '#id': 'branch-key-id' },
      ExpressionAttributeValues: { ':id': id },
      ConsistentRead: true,
    })
    return Items
  }

  async function countItems(): Promise<number> {
    const { Count = 0 } = await opened.db.scan({ TableName: TABLE, ConsistentRead: true })
    return Count
  }

  return Object.assign(opened, { open, item, items, tamper, countItems })
}

function recording(kms: Kms, calls: KmsCall[]): Kms {
  const recorded =
    <Input extends object, Output>(
      name: keyof Kms,
      call: (input: Input) => Promise<Output>,
    ): ((input: Input) => Promise<Output>) =>
    (input) => {
      calls.push([name, input])
      return call(input)
    }
  return {
    generateDataKeyWithoutPlaintext: recorded('generateDataKeyWithoutPlaintext', (input) =>
      kms.generateDataKeyWithoutPlaintext(input),
    ),
    encrypt: recorded('encrypt', (input) => kms.encrypt(input)),
    decrypt: recorded('decrypt', (input) => kms.decrypt(input)),
    reEncrypt: recorded('reEncrypt', (input) => kms.reEncrypt(input)),
    describeKey: recorded('describeKey', (input) => kms.describeKey(input)),
  }
}
