/**
 * The three KMS calls of a key store. Every call carries the grant tokens, and no response is trusted
 * before it is known to come from the requested key.
 */
import type { EncryptionContext, Kms } from '@strongroom/kit/kms'
import { kmsFailure } from './kms-errors.ts'
import { keyStoreFailure } from '../errors.ts'

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
  /** The plaintext key, in a buffer of its own. */
  decrypt(arn: string, wrapped: Uint8Array, context: EncryptionContext): Promise<Uint8Array>
}

const KEY_BYTES = 32
const MAX_GRANT_TOKENS = 10
const MAX_GRANT_TOKEN_LENGTH = 8192

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
      // Small buffers may share memory with others, so the caller gets a copy.
      const key = Uint8Array.from(Plaintext)
      Plaintext.fill(0)
      return key
    },
  }
}

/** A frozen copy. */
export function validateGrantTokens(given: readonly string[]): readonly string[] {
  const isToken = (token: unknown) =>
    typeof token === 'string' && token.length >= 1 && token.length <= MAX_GRANT_TOKEN_LENGTH
  if (!Array.isArray(given) || given.length > MAX_GRANT_TOKENS || !given.every(isToken))
    throw keyStoreFailure('InvalidGrantTokens')
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
  if (!isAsAsked) throw keyStoreFailure('UnexpectedKmsAnswer')
}

function isFilled(bytes: unknown): boolean {
  return bytes instanceof Uint8Array && bytes.length > 0
}
