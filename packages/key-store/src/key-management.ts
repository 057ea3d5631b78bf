/**
 * The three things that a key store has KMS do. Every call carries the grant tokens, and no answer
 * is believed before it is seen to come from the key that was asked.
 */
import type { EncryptionContext, Kms } from '@strongroom/kit/kms'
import { kmsFailure, UnexpectedKmsAnswer } from './kms-errors.ts'
import { InvalidGrantTokens } from './key-store-errors.ts'

export interface KeyManagement {
  /** A new key, wrapped. It is never seen in the clear. */
  generate(arn: string, context: EncryptionContext): Promise<Uint8Array>
  /** The same key, wrapped for another context. Fails if it was not wrapped for the first one. */
  reEncrypt(
    arn: string,
    wrapped: Uint8Array,
    from: EncryptionContext,
    to: EncryptionContext,
  ): Promise<Uint8Array>
  /** The key in the clear, in a buffer that nobody else has. */
  decrypt(arn: string, wrapped: Uint8Array, context: EncryptionContext): Promise<Uint8Array>
}

const KEY_BYTES = 32
const MOST_GRANT_TOKENS = 10
const LONGEST_GRANT_TOKEN = 8192

export function keyManagement(kms: Kms, grantTokens: readonly string[]): KeyManagement {
  const granted = grantTokens.length > 0 ? { GrantTokens: grantTokens } : {}

  return {
    // KS-70, KS-71, KS-74, KS-75
    async generate(arn, EncryptionContext) {
      const answer = await asked(() =>
        kms.generateDataKeyWithoutPlaintext({
          KeyId: arn,
          NumberOfBytes: KEY_BYTES,
          EncryptionContext,
          ...granted,
        }),
      )
      requireAnswer(answer.KeyId === arn && isFilled(answer.CiphertextBlob))
      return answer.CiphertextBlob
    },

    // KS-72, KS-73, KS-84
    async reEncrypt(arn, wrapped, from, to) {
      const answer = await asked(() =>
        kms.reEncrypt({
          SourceKeyId: arn,
          SourceEncryptionContext: from,
          CiphertextBlob: wrapped,
          DestinationKeyId: arn,
          DestinationEncryptionContext: to,
          ...granted,
        }),
      )
      const sameKey = answer.SourceKeyId === arn && answer.KeyId === arn
      requireAnswer(sameKey && isFilled(answer.CiphertextBlob))
      return answer.CiphertextBlob
    },

    // KS-106, KS-107, KS-111, KS-112
    async decrypt(arn, wrapped, EncryptionContext) {
      const { KeyId, Plaintext } = await asked(() =>
        kms.decrypt({ KeyId: arn, CiphertextBlob: wrapped, EncryptionContext, ...granted }),
      )
      requireAnswer(KeyId === arn && isFilled(Plaintext) && Plaintext.length === KEY_BYTES)
      // Small buffers may share memory with others: what is handed on stands alone.
      const key = Uint8Array.from(Plaintext)
      Plaintext.fill(0)
      return key
    },
  }
}

/** A copy that nobody can change any more. */
export function checkedGrantTokens(given: readonly string[]): readonly string[] {
  const isToken = (token: unknown) =>
    typeof token === 'string' && token.length >= 1 && token.length <= LONGEST_GRANT_TOKEN
  if (!Array.isArray(given) || given.length > MOST_GRANT_TOKENS || !given.every(isToken))
    throw new InvalidGrantTokens()
  return Object.freeze([...given])
}

async function asked<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    throw kmsFailure(error)
  }
}

function requireAnswer(isAsAsked: boolean) {
  if (!isAsAsked) throw new UnexpectedKmsAnswer()
}

function isFilled(bytes: unknown): boolean {
  return bytes instanceof Uint8Array && bytes.length > 0
}
