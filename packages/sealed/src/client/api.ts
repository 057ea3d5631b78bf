/** The calls of Sealed's API, for the page and for the command line. */
import type { Created, Issued, NewSecretRequest, ReceiptAnswer, Revealed } from '../api.ts'
import type { RevealProof } from '../crypto/seal.ts'
import { RequestFailed } from './errors.ts'
import { type Fetch, send, type Request } from './request.ts'

export interface SealedApi {
  /** Where Sealed is mounted, with a slash at its end. */
  base: string
  /** Permission to make one secret. */
  issueToken(): Promise<Issued>
  createSecret(token: string, secret: NewSecretRequest): Promise<Created>
  reveal(id: string, request: RevealProof & { claim: string }): Promise<Revealed>
  /** The reader has it: the server need not keep it any longer. */
  ack(id: string, claim: string): Promise<void>
  burn(id: string, burnToken: string): Promise<void>
  receipt(id: string, burnToken: string): Promise<ReceiptAnswer>
}

/** Short enough for a second try while a claim is still live. */
const SILENCE_MS = 10_000
/** A secret may go up slowly, during which nothing is heard; the server itself waits no longer. */
const SENDING_MS = 60_000

export function createSealedApi(options: { base: string; fetch?: Fetch }): SealedApi {
  const { base } = options
  // Looked up at each call: a page's fetch must not be called as a method of something else.
  const fetch: Fetch = options.fetch ?? ((...call) => globalThis.fetch(...call))
  const call = (
    method: Request['method'],
    path: string,
    rest?: Omit<Request, 'method' | 'url'>,
    silenceMs = SILENCE_MS,
  ) => send({ method, url: `${base}v1/${path}`, ...rest }, { fetch, silenceMs })
  const secret = (id: string) => `secrets/${encodeURIComponent(id)}`

  return {
    base,

    async issueToken() {
      const issued = shaped<Issued>(await call('POST', 'token'), {
        token: 'string',
        id: 'string',
        challenge: 'object',
        expiresAt: 'number',
      })
      shaped<Issued['challenge']>(issued.challenge, {
        prefix: 'string',
        difficulty: 'number',
        perDoubling: 'number',
      })
      return issued
    },

    async createSecret(token, body) {
      const headers = { authorization: `Bearer ${token}` }
      const created = await call('POST', 'secrets', { headers, body }, SENDING_MS)
      return shaped<Created>(created, { id: 'string', burnToken: 'string', expiresAt: 'number' })
    },

    async reveal(id, { link, proof, claim }) {
      const body = { link, proof, claim }
      const revealed = await call('POST', `${secret(id)}/reveal`, { body })
      return shaped<Omit<Revealed, 'salt'>>(revealed, {
        ciphertext: 'string',
        iv: 'string',
        passphraseProtected: 'boolean',
        remainingViews: 'number',
        graceSeconds: 'number',
      }) as Revealed
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
      return shaped<ReceiptAnswer>(receipt, { state: 'string' })
    },
  }
}

/** Something that is no Sealed may answer 200 too. */
function shaped<T>(body: unknown, types: { readonly [K in keyof T]?: string }): T {
  const found = (typeof body === 'object' ? body : null) as Record<string, unknown> | null
  const fits = ([name, type]: [string, unknown]) => found !== null && typeof found[name] === type
  if (!Object.entries(types).every(fits)) throw new RequestFailed('not_sealed')
  return body as T
}
