/** Requests of clients, and secrets for them. Returns responses unchanged. */
import { createHash } from 'node:crypto'
import { randomHex, randomToken } from '@strongroom/kit/ids'
import type {
  CreateResponse,
  TokenResponse,
  NewSecretRequest,
  RevealRequest,
} from '../../src/api.ts'
import { solveWork } from '../../src/crypto/proof-of-work.ts'
import type { SealedApp } from './sealed-app.ts'

type App = Pick<SealedApp, 'request'>

export function newCiphertext(paddedBytes = 256): string {
  return Buffer.from(randomToken(paddedBytes + 16), 'base64url').toString('base64')
}

const sha256 = (base64url: string) =>
  createHash('sha256').update(Buffer.from(base64url, 'base64url')).digest('base64url')

/** The proofs of a holder of the link and its passphrase. */
export interface Keys {
  link: string
  proof: string
}

export const newKeys = (): Keys => ({ link: randomToken(32), proof: randomToken(32) })
export const newClaim = () => randomHex(16)

export function newSecretBody(keys: Keys, given: Partial<NewSecretRequest> = {}): NewSecretRequest {
  return {
    ciphertext: newCiphertext(),
    iv: Buffer.from(randomToken(12), 'base64url').toString('base64'),
    salt: null,
    passphraseProtected: false,
    linkHash: sha256(keys.link),
    proofHash: sha256(keys.proof),
    ttlSeconds: 86_400,
    maxViews: 1,
    pow: 0,
    ...given,
  }
}

export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

export async function bodyOf<T>(answer: Response): Promise<T> {
  return (await answer.json()) as T
}

export const codeOf = async (answer: Response) =>
  (await bodyOf<{ error: { code: string } }>(answer)).error.code

export async function issueToken(
  app: App,
  headers: Record<string, string> = {},
): Promise<TokenResponse> {
  const answer = await app.request('/v1/token', { method: 'POST', headers })
  if (answer.status !== 200) throw new Error(`No token: ${answer.status}`)
  return bodyOf<TokenResponse>(answer)
}

export async function postSecret(app: App, token: string, body: unknown): Promise<Response> {
  return app.request('/v1/secrets', post(body, { authorization: `Bearer ${token}` }))
}

/** A secret that is stored, and everything that its creator and its reader have. */
export async function createSecret(app: App, given: Partial<NewSecretRequest> = {}) {
  const keys = newKeys()
  const { token, challenge } = await issueToken(app)
  const body = newSecretBody(keys, given)
  const pow = await solveWork(challenge, Buffer.from(body.ciphertext, 'base64'))
  const answer = await postSecret(app, token, { ...body, pow })
  if (answer.status !== 201) throw new Error(`No secret: ${answer.status} ${await answer.text()}`)
  return {
    ...(await bodyOf<CreateResponse>(answer)),
    keys,
    token,
    ciphertext: body.ciphertext,
    body,
  }
}

/** A reader, with a new claim by default. */
export async function reveal(
  app: App,
  id: string,
  request: Partial<RevealRequest> & Keys,
): Promise<Response> {
  return app.request(`/v1/secrets/${id}/reveal`, post({ claim: newClaim(), ...request }))
}

export async function ack(app: App, id: string, claim: unknown): Promise<Response> {
  return app.request(`/v1/secrets/${id}/ack`, post({ claim }))
}

export async function burn(app: App, id: string, burnToken: string): Promise<Response> {
  return app.request(`/v1/secrets/${id}`, {
    method: 'DELETE',
    headers: { 'x-burn-token': burnToken },
  })
}

export async function status(app: App, id: string, burnToken: string): Promise<Response> {
  return app.request(`/v1/secrets/${id}/status`, {
    method: 'POST',
    headers: { 'x-burn-token': burnToken },
  })
}
