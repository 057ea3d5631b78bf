import { randomBytes } from 'node:crypto'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import type { KmsKey } from '../kms.ts'

/** A key of an embedded KMS of its own, in memory. */
export async function testKmsKey(): Promise<KmsKey> {
  const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
  const { KeyMetadata } = await kms.createKey()
  return { kms, arn: KeyMetadata.Arn }
}
