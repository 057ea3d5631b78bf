import type { DecryptInput, DecryptOutput } from '../api.ts'
import { parseContext } from '../checks.ts'
import { checkCommon, open, SYMMETRIC_DEFAULT } from './cryptography.ts'
import type { Operation } from './operation.ts'

export const decrypt: Operation<DecryptInput, DecryptOutput> = {
  name: 'Decrypt',
  async run({ keys }, input, trail) {
    trail.context = parseContext(input.EncryptionContext)
    checkCommon(input)
    const { key, plaintext } = await open(
      keys,
      {
        blob: input.CiphertextBlob,
        keyId: input.KeyId,
        keyIdName: 'KeyId',
        context: trail.context,
      },
      (arn) => {
        trail.key = arn
      },
    )
    return { KeyId: key.arn, Plaintext: plaintext, EncryptionAlgorithm: SYMMETRIC_DEFAULT }
  },
}
