import type { EncryptInput, EncryptOutput } from '../api.ts'
import { parseBytes, parseContext, parseKeyId } from '../checks.ts'
import {
  checkCommon,
  MAX_PLAINTEXT_BYTES,
  seal,
  SYMMETRIC_DEFAULT,
  usableKey,
} from './cryptography.ts'
import type { Operation } from './operation.ts'

export const encrypt: Operation<EncryptInput, EncryptOutput> = {
  name: 'Encrypt',
  async run({ keys }, input, trail) {
    trail.key = parseKeyId(input.KeyId)
    trail.context = parseContext(input.EncryptionContext)
    const plaintext = parseBytes(input.Plaintext, 'Plaintext', MAX_PLAINTEXT_BYTES)
    checkCommon(input)
    const key = await usableKey(keys, trail.key)
    trail.key = key.arn
    const CiphertextBlob = await seal(keys, key, trail.context, plaintext)
    plaintext.fill(0)
    return { KeyId: key.arn, CiphertextBlob, EncryptionAlgorithm: SYMMETRIC_DEFAULT }
  },
}
