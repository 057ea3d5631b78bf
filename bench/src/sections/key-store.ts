// The key store and its envelope compared with AWS's libraries, on the same table and the same KMS, all in
// one process.

import { randomBytes } from 'node:crypto'
import { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import {
  AlgorithmSuiteIdentifier,
  buildClient,
  CommitmentPolicy,
  KmsHierarchicalKeyRingNode,
} from '@aws-crypto/client-node'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { KMSClient } from '@aws-sdk/client-kms'
import { openEngine } from '@strongroom/engine/engine'
import { embedded as embeddedDb } from '@strongroom/engine/wire/sdk'
import { cachedBranchKeys } from '@strongroom/key-store/cache'
import { createEnvelope } from '@strongroom/key-store/envelope/envelope'
import { openKeyStore } from '@strongroom/key-store/store/key-store'
import { awsBranchKeyCache } from '@strongroom/key-store/aws/keyring-cache'
import { createKeyStorage } from '@strongroom/key-store/store/storage'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '@strongroom/key-store/tables'
import { systemClock } from '@strongroom/platform/clock'
import { createTables } from '@strongroom/kit/tables'
import type { Kms } from '@strongroom/kit/kms'
import { createKms } from '@strongroom/kms/kms'
import { embedded as embeddedKms } from '@strongroom/kms/sdk'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { cpuTarget, limitTarget, rateTarget, type Result } from '../result.ts'
import { type Contender, type Figures, measureInTurns } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const CACHE = { clock: systemClock, ttlSeconds: 3600, capacity: 100 }
const READERS = 50

export async function keyStoreSection(workspace: Workspace, options: Options): Promise<Result> {
  const engine = await openEngine({ directory: workspace.directory() })
  const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
  const { KeyMetadata } = await kms.createKey()
  const counted = countDecrypts(kms)
  await createTables(engine, [branchKeysTable])

  const arn = KeyMetadata.Arn
  const tableName = branchKeysTable.name
  const keyStore = openKeyStore({
    storage: createKeyStorage({
      db: engine,
      tableName,
      logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
    }),
    kms: counted.kms,
    kmsConfiguration: { kind: 'kmsKeyArn', arn },
  })
  const awsKeyStore = new BranchKeyStoreNode({
    storage: {
      ddbTableName: tableName,
      ddbClient: new DynamoDBClient(embeddedDb(engine)),
    },
    logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
    kmsConfiguration: { identifier: arn },
    keyManagement: { kmsClient: new KMSClient(embeddedKms(kms)) },
  })

  // The id that the envelope gives the tenant's branch key.
  const place = { service: 'ferryhook', tenant: 'u1', entity: 'src_1', attribute: 'secret' }
  const branchKeyIdentifier = `${place.service}:${place.tenant}`
  await keyStore.createKey({ branchKeyIdentifier, encryptionContext: { purpose: 'bench' } })

  const coldReads = await decryptsOfColdReads()
  const timing = { warmUpSeconds: 0.5, rounds: 7, seconds: options.seconds }

  const branchKeys = cachedBranchKeys(keyStore, CACHE)
  const reads = await measureInTurns(
    [
      contender('strongroom', () => branchKeys.getActiveBranchKey({ branchKeyIdentifier })),
      contender('AWS', () => awsKeyStore.getActiveBranchKey(branchKeyIdentifier)),
    ],
    'getActiveBranchKey',
    1,
    timing,
  )

  const secret = randomBytes(1024)
  const envelope = createEnvelope({ keyStore, branchKeys })
  // The envelope's suite; AWS's default also signs and takes several times as long.
  const suiteId = AlgorithmSuiteIdentifier.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY
  const { encrypt, decrypt } = buildClient(CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT)
  const keyring = new KmsHierarchicalKeyRingNode({
    branchKeyId: branchKeyIdentifier,
    keyStore: awsKeyStore,
    cacheLimitTtl: CACHE.ttlSeconds,
    cache: awsBranchKeyCache(),
    utf8Sorting: true,
  })
  const seals = await measureInTurns(
    [
      contender('strongroom', async () => envelope.open(await envelope.seal(secret, place), place)),
      contender('AWS', async () => {
        const { result } = await encrypt(keyring, secret, { encryptionContext: place, suiteId })
        return decrypt(keyring, result)
      }),
    ],
    'seal and open 1 KB',
    1,
    timing,
  )
  await engine.close()

  const cold = `key store, KMS calls of ${READERS} concurrent first reads`
  return {
    title: "The key store (cached) and AWS's libraries: same table, same KMS, in process",
    figures: [...reads, ...seals],
    targets: [
      rateTarget("key store, cached getActiveBranchKey, times AWS's rate", pair(reads), 20, '×'),
      cpuTarget("key store, seal and open of 1 KB per CPU second, times AWS's", pair(seals), 3),
      limitTarget(cold, coldReads, 1, 'calls'),
    ],
    notes: [],
  }

  async function decryptsOfColdReads(): Promise<number> {
    const cache = cachedBranchKeys(keyStore, CACHE)
    const before = counted.decrypts()
    const readers = Array.from({ length: READERS }, () =>
      cache.getActiveBranchKey({ branchKeyIdentifier }),
    )
    await Promise.all(readers)
    return counted.decrypts() - before
  }
}

function contender(name: string, call: () => unknown): Contender {
  return { name, measure: (concurrency, milliseconds) => measure(call, concurrency, milliseconds) }
}

function pair(figures: readonly Figures[]): [Figures, Figures] {
  const [ours, theirs] = figures
  if (!ours || !theirs) throw new Error('Both have to be measured')
  return [ours, theirs]
}

function countDecrypts(kms: Kms): { kms: Kms; decrypts(): number } {
  let decrypts = 0
  const counting: Kms = {
    ...kms,
    decrypt(input) {
      decrypts++
      return kms.decrypt(input)
    },
  }
  return { kms: counting, decrypts: () => decrypts }
}
