/** The rules of secrets. HTTP is in `routes.ts`, storage in `store.ts`. */
import { hash, randomBytes } from 'node:crypto'
import { randomHex } from '@strongroom/kit/ids'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Difficulty } from '../abuse/difficulty.ts'
import type { Quota } from '../abuse/quota.ts'
import type {
  CreateResponse,
  TokenResponse,
  NewSecretRequest,
  ReceiptResponse,
  RevealResponse,
  RevealRequest,
  SecretOptions,
} from '../api.ts'
import type { ApiTokens } from '../api-tokens/service.ts'
import { ApiError } from '@strongroom/kit/errors'
import type { CleanupScheduler } from '../cleanup/scheduler.ts'
import { requiredBits, verifyWork } from '../crypto/proof-of-work.ts'
import { sealedError } from '../errors.ts'
import type { Figures } from '../figures/store.ts'
import type { SecretStore } from './store.ts'
import type { Grant, Tokens } from './token.ts'

/** How long a receipt outlives the expiry of its secret. */
export const RECEIPT_SECONDS = 7 * 24 * 60 * 60

/** Used for malformed requests, so that they take as long as well-formed ones and match no secret. */
const DUMMY_CREDENTIALS = { link: randomBytes(32), proof: randomBytes(32), token: randomHex(16) }

export interface SecretService {
  /** A token for one secret, without proof of work for a holder of an API token. */
  issueToken(apiToken?: string): Promise<TokenResponse>
  create(grant: Grant, secret: NewSecretRequest): Promise<CreateResponse>
  /** Here and below, undefined means a malformed request. */
  reveal(id: string, proof: RevealRequest | undefined): Promise<RevealResponse>
  /** Whether there was such a claim, which only its reader knows. */
  acknowledge(id: string, claim: string | undefined): Promise<boolean>
  burn(id: string, burnToken: string | undefined): Promise<void>
  receipt(id: string, burnToken: string | undefined): Promise<ReceiptResponse>
}

export function createSecretService(options: {
  store: SecretStore
  tokens: Tokens
  apiTokens: Pick<ApiTokens, 'use' | 'findActive'>
  difficulty: Difficulty
  perDoubling: number
  quota: Quota
  cleanup: CleanupScheduler
  clock: Clock
  figures: Pick<Figures, 'count'>
  secretOptions: SecretOptions
}): SecretService {
  const { store, tokens, apiTokens, difficulty, perDoubling, quota, cleanup, clock } = options
  const { figures, secretOptions } = options

  const countRefusal = (error: unknown): never => {
    if (error instanceof ApiError) figures.count('refused')
    throw error
  }

  const service: SecretService = {
    async issueToken(apiToken) {
      if (apiToken !== undefined) {
        const id = await apiTokens.use(apiToken)
        const issued = await tokens.issue({ difficulty: 0, perDoubling: 0 }, id)
        return { ...issued, options: secretOptions }
      }
      const issued = await tokens.issue({ difficulty: difficulty.now(), perDoubling })
      return { ...issued, options: secretOptions }
    },

    async create({ id, challenge, apiToken }, secret) {
      // Otherwise what was issued before the API token was revoked would seal for five more minutes.
      if (apiToken !== undefined && !(await apiTokens.findActive(apiToken))) {
        throw sealedError('invalid_token')
      }
      requireWithin(secretOptions, secret)
      requireWork(challenge, secret)
      const burnToken = randomHex(16)
      const expiresAt = epochSeconds(clock) + secret.ttlSeconds
      const isStored = await quota.storeWithin(secret.ciphertext, () =>
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
      if (!isStored) throw sealedError('invalid_token')
      if (challenge.difficulty > 0) difficulty.recordCreation()
      figures.count('created')
      return { id, burnToken, expiresAt }
    },

    async reveal(id, proof) {
      const result = await store.claim(id, {
        linkHash: sha256(proof ? Buffer.from(proof.link, 'base64url') : DUMMY_CREDENTIALS.link),
        proofHash: sha256(proof ? Buffer.from(proof.proof, 'base64url') : DUMMY_CREDENTIALS.proof),
        claimHash: tokenHash(proof?.claim ?? DUMMY_CREDENTIALS.token),
      })
      switch (result.outcome) {
        case 'revealed': {
          const { deadline, salt = null, ...secret } = result.secret
          figures.count('opened')
          if (secret.remainingViews === 0) cleanup.schedule(id, deadline)
          return { ...secret, salt, graceSeconds: deadline - epochSeconds(clock) }
        }
        case 'wrong_proof':
          throw sealedError('wrong_passphrase', { data: { triesLeft: result.triesLeft } })
        case 'not_available':
          cleanup.schedule(id, epochSeconds(clock))
          throw sealedError('not_available')
      }
    },

    async acknowledge(id, claim = DUMMY_CREDENTIALS.token) {
      const outcome = await store.ack(id, tokenHash(claim))
      if (outcome === 'secret_ended') cleanup.cancel(id)
      else cleanup.schedule(id, epochSeconds(clock))
      return outcome !== 'not_available'
    },

    async burn(id, burnToken = DUMMY_CREDENTIALS.token) {
      await store.burn(id, tokenHash(burnToken))
      cleanup.schedule(id, epochSeconds(clock))
    },

    async receipt(id, burnToken = DUMMY_CREDENTIALS.token) {
      const receipt = await store.status(id, tokenHash(burnToken))
      if (!receipt) throw sealedError('not_available')
      const { state, views } = receipt
      return {
        state,
        ...(state === 'viewed' && { viewedAt: receipt.at }),
        ...(views && { views: views.used, maxViews: views.max }),
      }
    },
  }
  return {
    ...service,
    create: (grant, secret) => service.create(grant, secret).catch(countRefusal),
    reveal: (id, proof) => service.reveal(id, proof).catch(countRefusal),
  }
}

/** Throws if it exceeds the operator's maxima. */
export function requireWithin(
  { maxTtlSeconds, maxViews }: Pick<SecretOptions, 'maxTtlSeconds' | 'maxViews'>,
  secret: Pick<NewSecretRequest, 'ttlSeconds' | 'maxViews'>,
) {
  const details = [
    { path: 'body.ttlSeconds', value: secret.ttlSeconds, max: maxTtlSeconds },
    { path: 'body.maxViews', value: secret.maxViews, max: maxViews },
  ]
    .filter(({ value, max }) => value > max)
    .map(({ path, max }) => ({
      path,
      message: `Must be at most ${max}, the maximum of this server`,
    }))
  if (details.length > 0) throw sealedError('invalid_request', { details })
}

function requireWork(challenge: Grant['challenge'], { ciphertext, pow }: NewSecretRequest) {
  if (requiredBits(challenge, Buffer.byteLength(ciphertext, 'base64')) === 0) return
  const bytes = Buffer.from(ciphertext, 'base64')
  if (!verifyWork(challenge, bytes, pow)) throw sealedError('invalid_pow')
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

/** The first 128 bits of SHA-256, in the format of the token itself. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex').slice(0, 32)
}
