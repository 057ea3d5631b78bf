/** The rules of requests: one person asks for a secret, somebody else puts it in, once. */
import { ApiError } from '@strongroom/kit/errors'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Difficulty } from '../abuse/difficulty.ts'
import type { Quota } from '../abuse/quota.ts'
import type {
  CreateResponse,
  FillRequest,
  NewRequestRequest,
  RequestTokenResponse,
  SecretOptions,
} from '../api.ts'
import type { ApiTokens } from '../api-tokens/service.ts'
import { challengeForRequest, requiredBits, verifyWork } from '../crypto/proof-of-work.ts'
import { sealedError } from '../errors.ts'
import type { Figures } from '../figures/store.ts'
import { MAX_REQUEST_SECONDS, MIN_TTL_SECONDS, TOKEN_SECONDS } from '../limits.ts'
import { RECEIPT_SECONDS, requireWithin, tokenHash } from '../secrets/service.ts'
import type { SecretStore } from '../secrets/store.ts'
import type { Tokens } from '../secrets/token.ts'
import type { OpenRequest, RequestTokens } from './token.ts'

export interface RequestService {
  /** `apiToken` is undefined without one. */
  create(request: NewRequestRequest, apiToken?: string): Promise<RequestTokenResponse>
  /** Throws `not_available` unless the request can still be filled, as far as its token says. */
  authorize(id: string, token: string): Promise<OpenRequest>
  /** Throws `not_available` if it was filled before, unless with the same secret. */
  fill(request: OpenRequest, secret: FillRequest): Promise<CreateResponse>
}

export function createRequestService(options: {
  store: Pick<SecretStore, 'create' | 'findFill'>
  tokens: Pick<Tokens, 'verify'>
  requestTokens: RequestTokens
  apiTokens: Pick<ApiTokens, 'use' | 'useAgain' | 'findActive'>
  difficulty: Pick<Difficulty, 'recordCreation'>
  quota: Pick<Quota, 'storeWithin'>
  clock: Clock
  figures: Pick<Figures, 'count'>
  /** Whether requests can be made only with an API token. */
  needsApiToken: boolean
  secretOptions: SecretOptions
}): RequestService {
  const { store, tokens, requestTokens, apiTokens, difficulty, quota, clock, figures } = options
  const { maxTtlSeconds } = options.secretOptions

  /**
   * The work is for this request only, at the difficulty of now: requests live for days. Returns that
   * difficulty.
   */
  async function requireWork({ id, apiToken }: OpenRequest, secret: FillRequest): Promise<number> {
    if (apiToken !== undefined) {
      if (!(await apiTokens.useAgain(apiToken))) throw sealedError('not_available')
      return 0
    }
    const grant = await tokens.verify(secret.workToken ?? '')
    // A token without work, for a holder of an API token, would work for any number of requests.
    if (!grant || grant.apiToken !== undefined) throw sealedError('invalid_pow')
    const challenge = challengeForRequest(grant.challenge, id)
    const bytes = Buffer.from(secret.ciphertext, 'base64')
    const isFree = requiredBits(challenge, bytes.length) === 0
    if (!isFree && !verifyWork(challenge, bytes, secret.pow)) throw sealedError('invalid_pow')
    return challenge.difficulty
  }

  function lifetime(minSeconds: number, secret: FillRequest): number {
    const usual = Math.min(MAX_REQUEST_SECONDS, maxTtlSeconds)
    const { ttlSeconds = Math.max(usual, minSeconds, MIN_TTL_SECONDS) } = secret
    requireLifetime(minSeconds, ttlSeconds)
    // The operator may have lowered the maximum after the request was made.
    const max = Math.max(maxTtlSeconds, minSeconds)
    requireWithin({ maxTtlSeconds: max, maxViews: 1 }, { ttlSeconds, maxViews: 1 })
    return ttlSeconds
  }

  /** The operator may have left requests to API tokens after it was made. */
  async function isPermitted({ apiToken }: OpenRequest): Promise<boolean> {
    if (apiToken === undefined) return !options.needsApiToken
    return (await apiTokens.findActive(apiToken)) !== undefined
  }

  const service: RequestService = {
    async create({ seconds = MAX_REQUEST_SECONDS, linkHash, proofHash }, apiToken) {
      // Its secret outlives the request, so a longer one could not be filled.
      const maxSeconds = maxTtlSeconds - TOKEN_SECONDS
      const request = { seconds: Math.min(seconds, maxSeconds), linkHash, proofHash }
      if (apiToken === undefined) {
        if (options.needsApiToken) {
          throw sealedError('invalid_api_token', { headers: { 'www-authenticate': 'Bearer' } })
        }
        return requestTokens.issue(request)
      }
      const id = await apiTokens.use(apiToken)
      const active = await apiTokens.findActive(id)
      return requestTokens.issue(request, { id, expiresAt: active?.expiresAt })
    },

    async authorize(id, token) {
      const request = await requestTokens.verify(token, id)
      if (!request || !(await isPermitted(request))) throw sealedError('not_available')
      return request
    },

    async fill(request, secret) {
      const { id } = request
      const burnTokenHash = tokenHash(secret.burnToken)
      const { ciphertext } = secret
      const requestUntil = request.expiresAt + TOKEN_SECONDS
      const found = await store.findFill(id, { burnTokenHash, ciphertext })
      if (found.state === 'taken') throw sealedError('not_available')
      if (found.state === 'same') {
        // Not the stored expiry, which changes when the secret is opened.
        const { createdAt } = found
        const expiresAt = createdAt + lifetime(requestUntil - createdAt, secret)
        return { id, burnToken: secret.burnToken, expiresAt }
      }
      const now = epochSeconds(clock)
      const ttlSeconds = lifetime(requestUntil - now, secret)
      const workDifficulty = await requireWork(request, secret)
      const expiresAt = now + ttlSeconds
      const isStored = await quota.storeWithin(ciphertext, () =>
        store.create({
          id,
          ciphertext,
          iv: secret.iv,
          passphraseProtected: false,
          linkHash: Buffer.from(request.linkHash, 'base64url'),
          proofHash: Buffer.from(request.proofHash, 'base64url'),
          burnTokenHash,
          maxViews: 1,
          ttlSeconds,
          receiptUntil: secret.receipt ? expiresAt + RECEIPT_SECONDS : undefined,
          requestUntil,
        }),
      )
      if (!isStored) throw sealedError('not_available')
      if (workDifficulty > 0) difficulty.recordCreation()
      figures.count('created')
      return { id, burnToken: secret.burnToken, expiresAt }
    },
  }
  return {
    ...service,
    fill: (request, secret) =>
      service.fill(request, secret).catch((error: unknown) => {
        if (error instanceof ApiError) figures.count('refused')
        throw error
      }),
  }
}

/** An id that became free while its token is valid could be filled twice. */
function requireLifetime(minSeconds: number, ttlSeconds: number) {
  if (ttlSeconds >= minSeconds) return
  const message = `Must be at least ${minSeconds}: a secret lives ${TOKEN_SECONDS} seconds longer than its request`
  throw sealedError('invalid_request', { details: [{ path: 'body.ttlSeconds', message }] })
}
