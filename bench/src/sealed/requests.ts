// Secrets of 1 KB and the requests to Sealed for them. Nothing is encrypted: the server cannot tell.

import { createHash, randomBytes } from 'node:crypto'
import type { Call, Caller } from '../http/call.ts'
import { inParallel } from '../parallel.ts'

export interface Secret {
  id: string
  token: string
  link: string
  proof: string
}

export function draft(id: string, token: string): Secret {
  return { id, token, link: bytes(32), proof: bytes(32) }
}

/** Drafts with ids and creation tokens from the server. */
export async function tokens(
  caller: Caller,
  count: number,
  connections: number,
): Promise<Secret[]> {
  const drafts: Secret[] = []
  await inParallel(count, connections, async () => {
    drafts.push(await issueToken(caller))
  })
  return drafts
}

export async function issueToken(caller: Caller): Promise<Secret> {
  const { body } = await caller.post({ path: '/v1/token', body: '' })
  const { id, token } = JSON.parse(body) as { id: string; token: string }
  return draft(id, token)
}

export function createCall({ token, link, proof }: Secret): Call {
  const body = {
    ciphertext: randomBytes(1024 + 16).toString('base64'),
    iv: randomBytes(12).toString('base64'),
    salt: null,
    passphraseProtected: false,
    linkHash: hashOf(link),
    proofHash: hashOf(proof),
    ttlSeconds: 3600,
    maxViews: 1,
    pow: 0,
  }
  return {
    path: '/v1/secrets',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  }
}

export function revealCall(
  { id, link, proof }: Pick<Secret, 'id' | 'link' | 'proof'>,
  claim = newClaim(),
): Call {
  return { path: `/v1/secrets/${id}/reveal`, body: JSON.stringify({ link, proof, claim }) }
}

/** What a reader sends after it has decrypted the secret. */
export function ackCall({ id }: Pick<Secret, 'id'>, claim: string): Call {
  return { path: `/v1/secrets/${id}/ack`, body: JSON.stringify({ claim }) }
}

export function newClaim(): string {
  return randomBytes(16).toString('hex')
}

export function bytes(count: number): string {
  return randomBytes(count).toString('base64url')
}

function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'base64url')).digest('base64url')
}
