import type { ReEncryptInput, ReEncryptOutput } from '../api.ts'
import { parseContext, parseKeyId } from '../checks.ts'
import { checkCommon, open, seal, SYMMETRIC_DEFAULT, usableKey } from './cryptography.ts'
import type { Operation } from './operation.ts'

/** Re-encrypts under another key or context; the plaintext does not leave the KMS. */
export const reEncrypt: Operation<ReEncryptInput, ReEncryptOutput> = {
  name: 'ReEncrypt',
  async run({ keys }, input, trail) {
    trail.key = parseKeyId(input.DestinationKeyId, 'DestinationKeyId')
    trail.context = parseContext(input.DestinationEncryptionContext, 'DestinationEncryptionContext')
    trail.sourceContext = parseContext(input.SourceEncryptionContext, 'SourceEncryptionContext')
    checkCommon(input)
    const { key: source, plaintext } = await open(
      keys,
      {
        blob: input.CiphertextBlob,
        keyId: input.SourceKeyId,
        keyIdName: 'SourceKeyId',
        context: trail.sourceContext,
      },
      (arn) => {
        trail.sourceKey = arn
      },
    )
    try {
      const destination = await usableKey(keys, trail.key)
      trail.key = destination.arn
      return {
        SourceKeyId: source.arn,
        KeyId: destination.arn,
        CiphertextBlob: await seal(keys, destination, trail.context, plaintext),
        SourceEncryptionAlgorithm: SYMMETRIC_DEFAULT,
        DestinationEncryptionAlgorithm: SYMMETRIC_DEFAULT,
      }
    } finally {
      plaintext.fill(0)
    }
  },
}
