/** The API client of the page and the CLI. */
import type {
  CreateResponse,
  TokenResponse,
  FillRequest,
  NewRequestRequest,
  NewSecretRequest,
  ReceiptResponse,
  RequestTokenResponse,
  RevealResponse,
} from '../api.ts'
import type { RevealProof } from '../crypto/seal.ts'
import { RequestFailed } from './errors.ts'
import { type Fetch, send, type Request } from './request.ts'

export interface SealedApi {
  /** Where Sealed is mounted, with a trailing slash. */
  base: string
  issueToken(): Promise<TokenResponse>
  createSecret(token: string, secret: NewSecretRequest): Promise<CreateResponse>
  createRequest(request: NewRequestRequest): Promise<RequestTokenResponse>
  fillRequest(id: string, token: string, secret: FillRequest): Promise<CreateResponse>
  reveal(id: string, request: RevealProof & { claim: string }): Promise<RevealResponse>
  /** Confirms that the reader has the secret, so that the server can delete it. */
  ack(id: string, claim: string): Promise<void>
  burn(id: string, burnToken: string): Promise<void>
  receipt(id: string, burnToken: string): Promise<ReceiptResponse>
}

/** Short enough for a second attempt while a claim is still live. */
const IDLE_TIMEOUT_MS = 10_000
/** Nothing is received during an upload, which may be slow. The server itself waits no longer. */
const UPLOAD_TIMEOUT_MS = 60_000

export function createSealedApi(options: {
  base: string
  /** Seals without a proof of work. */
  apiToken?: string | undefined
  fetch?: Fetch
}): SealedApi {
  const { base, apiToken } = options
  // Browsers reject fetch when it is called as a method of another object.
  const fetch: Fetch = options.fetch ?? ((...call) => globalThis.fetch(...call))
  const call = (
    method: Request['method'],
    path: string,
    rest?: Omit<Request, 'method' | 'url'>,
    idleTimeoutMs = IDLE_TIMEOUT_MS,
  ) => send({ method, url: `${base}v1/${path}`, ...rest }, { fetch, idleTimeoutMs })
  const secret = (id: string) => `secrets/${encodeURIComponent(id)}`
  const withApiToken =
    apiToken === undefined ? {} : { headers: { authorization: `Bearer ${apiToken}` } }

  return {
    base,

    async issueToken() {
      const issued = requireShape<TokenResponse>(await call('POST', 'token', withApiToken), {
        token: 'string',
        id: 'string',
        challenge: 'object',
        expiresAt: 'number',
      })
      requireShape<TokenResponse['challenge']>(issued.challenge, {
        prefix: 'string',
        difficulty: 'number',
        perDoubling: 'number',
      })
      requireShape<TokenResponse['options']>(issued.options, {
        defaultTtlSeconds: 'number',
        maxTtlSeconds: 'number',
        defaultViews: 'number',
        maxViews: 'number',
      })
      return issued
    },

    async createSecret(token, body) {
      const headers = { authorization: `Bearer ${token}` }
      const created = await call('POST', 'secrets', { headers, body }, UPLOAD_TIMEOUT_MS)
      return requireShape<CreateResponse>(created, {
        id: 'string',
        burnToken: 'string',
        expiresAt: 'number',
      })
    },

    async createRequest(body) {
      const created = await call('POST', 'requests', { ...withApiToken, body })
      return requireShape<RequestTokenResponse>(created, {
        token: 'string',
        id: 'string',
        expiresAt: 'number',
      })
    },

    async fillRequest(id, token, body) {
      const headers = { authorization: `Bearer ${token}` }
      const path = `requests/${encodeURIComponent(id)}`
      const filled = await call('POST', path, { headers, body }, UPLOAD_TIMEOUT_MS)
      return requireShape<CreateResponse>(filled, { burnToken: 'string', expiresAt: 'number' })
    },

    async reveal(id, { link, proof, claim }) {
      const body = { link, proof, claim }
      const revealed = await call('POST', `${secret(id)}/reveal`, { body })
      return requireShape<Omit<RevealResponse, 'salt'>>(revealed, {
        ciphertext: 'string',
        iv: 'string',
        passphraseProtected: 'boolean',
        remainingViews: 'number',
        graceSeconds: 'number',
      }) as RevealResponse
    },

    async ack(id, claim) {
      await call('POST', `${secret(id)}/ack`, { body: { claim } })
    },

    async burn(id, burnToken) {
      await call('DELETE', secret(id), { headers: { 'x-burn-token': burnToken } })
    },

    async receipt(id, burnToken) {
      const headers = { 'x-burn-token': burnToken }
      const receipt = await call('POST', `${secret(id)}/status`, { headers })
      return requireShape<ReceiptResponse>(receipt, { state: 'string' })
    },
  }
}

/** Another service may respond with 200 too. */
function requireShape<T>(body: unknown, types: { readonly [K in keyof T]?: string }): T {
  const found = (typeof body === 'object' ? body : null) as Record<string, unknown> | null
  const fits = ([name, type]: [string, unknown]) => found !== null && typeof found[name] === type
  if (!Object.entries(types).every(fits)) throw new RequestFailed('not_sealed')
  return body as T
}
