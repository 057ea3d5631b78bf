/** What can be done with secrets, by whoever. HTTP is in `routes.ts`, what is stored in `store.ts`. */
import { hash, randomBytes } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import { randomHex } from '@strongroom/kit/ids'
import type {
  Created,
  Issued,
  NewSecretRequest,
  ReceiptAnswer,
  Revealed,
  RevealRequest,
} from './api.ts'
import { requiredBits, verifyWork } from './crypto/proof-of-work.ts'
import type { Difficulty } from './difficulty.ts'
import { sealedError } from './errors.ts'
import type { Quota } from './quota.ts'
import type { Reducer } from './reducer.ts'
import type { SecretStore } from './store.ts'
import type { Grant, Tokens } from './token.ts'

/** How long after its expiry a secret's receipt can be asked for, if there was one to keep. */
const RECEIPT_SECONDS = 7 * 24 * 60 * 60

/** What a malformed request stands for: nobody has these, and asking takes as long as ever. */
const nobody = { link: randomBytes(32), proof: randomBytes(32), token: randomHex(16) }

export interface Sealed {
  /** Permits one secret; operators need not work for it. */
  issueToken(by: { isOperator: boolean }): Promise<Issued>
  create(grant: Grant, secret: NewSecretRequest): Promise<Created>
  /** Undefined stands for a request that could not be read, here and below. */
  reveal(id: string, proof: RevealRequest | undefined): Promise<Revealed>
  acknowledge(id: string, claim: string | undefined): Promise<void>
  burn(id: string, burnToken: string | undefined): Promise<void>
  receipt(id: string, burnToken: string | undefined): Promise<ReceiptAnswer>
}

export function createSealed(options: {
  store: SecretStore
  tokens: Tokens
  difficulty: Difficulty
  perDoubling: number
  quota: Quota
  reducer: Reducer
  clock: Clock
}): Sealed {
  const { store, tokens, difficulty, perDoubling, quota, reducer, clock } = options

  return {
    async issueToken({ isOperator }) {
      if (isOperator) return tokens.issue({ difficulty: 0, perDoubling: 0 })
      return tokens.issue({ difficulty: difficulty.now(), perDoubling })
    },

    async create({ id, challenge }, secret) {
      requireWork(challenge, secret)
      const burnToken = randomHex(16)
      const expiresAt = epochSeconds(clock) + secret.ttlSeconds
      const stored = await quota.within(secret.ciphertext, () =>
        store.create({
          id,
          ciphertext: secret.ciphertext,
          iv: secret.iv,
          salt: secret.salt ?? undefined,
          passphraseProtected: secret.passphraseProtected,
          linkHash: Buffer.from(secret.linkHash, 'base64url'),
          proofHash: Buffer.from(secret.proofHash, 'base64url'),
          burnTokenHash: tokenHash(burnToken),
          maxViews: secret.maxViews,
          ttlSeconds: secret.ttlSeconds,
          receiptUntil: secret.receipt ? expiresAt + RECEIPT_SECONDS : undefined,
        }),
      )
      if (!stored) throw sealedError('invalid_token')
      if (challenge.difficulty > 0) difficulty.count()
      return { id, burnToken, expiresAt }
    },

    async reveal(id, proof) {
      const result = await store.claim(id, {
        linkHash: sha256(proof ? Buffer.from(proof.link, 'base64url') : nobody.link),
        proofHash: sha256(proof ? Buffer.from(proof.proof, 'base64url') : nobody.proof),
        claimHash: tokenHash(proof?.claim ?? nobody.token),
      })
      switch (result.outcome) {
        case 'revealed': {
          const { deadline, salt = null, ...secret } = result.secret
          if (secret.remainingViews === 0) reducer.lookAt(id, deadline)
          return { ...secret, salt, graceSeconds: deadline - epochSeconds(clock) }
        }
        case 'wrong_proof':
          throw sealedError('wrong_passphrase', { data: { triesLeft: result.triesLeft } })
        case 'not_available':
          reducer.lookAt(id, epochSeconds(clock))
          throw sealedError('not_available')
      }
    },

    async acknowledge(id, claim = nobody.token) {
      await store.ack(id, tokenHash(claim))
      reducer.lookAt(id, epochSeconds(clock))
    },

    async burn(id, burnToken = nobody.token) {
      await store.burn(id, tokenHash(burnToken))
      reducer.lookAt(id, epochSeconds(clock))
    },

    async receipt(id, burnToken = nobody.token) {
      const receipt = await store.status(id, tokenHash(burnToken))
      if (!receipt) throw sealedError('not_available')
      const { state } = receipt
      return state === 'viewed' ? { state, viewedAt: receipt.at } : { state }
    },
  }
}

function requireWork(challenge: Grant['challenge'], { ciphertext, pow }: NewSecretRequest) {
  const bytes = Buffer.from(ciphertext, 'base64')
  const isFree = requiredBits(challenge, bytes.length) === 0
  if (!isFree && !verifyWork(challenge, bytes, pow)) throw sealedError('invalid_pow')
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

/** The first 128 bits of SHA-256, in the format of the token itself. */
function tokenHash(token: string): string {
  return hash('sha256', token, 'hex').slice(0, 32)
}
