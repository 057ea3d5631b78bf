/** Creates a request for a secret. The private key stays in the requester's own link. */
import { toBase64url } from '../crypto/bytes.ts'
import { sha256 } from '../crypto/hash.ts'
import type { OwnTarget, RequestTarget } from '../crypto/link.ts'
import { deriveOwnKeys, fingerprint, newOwnFragment } from '../crypto/request.ts'
import type { SealedApi } from './api.ts'
import { defaultRetry, type RetryOptions, retryWhenRateLimited } from './retry.ts'

export interface NewRequest {
  /** For the sender. */
  request: RequestTarget
  /** For the requester only. */
  own: OwnTarget
  /** For both to compare. */
  fingerprint: string
  /** Seconds since the epoch. */
  expiresAt: number
}

export async function createRequest(
  api: SealedApi,
  { seconds }: { seconds: number },
  retry: RetryOptions = defaultRetry,
): Promise<NewRequest> {
  const fragment = await newOwnFragment()
  const { link, proof, acceptsFiles, publicKey } = await deriveOwnKeys(fragment)
  const linkHash = toBase64url(await sha256(link))
  const proofHash = toBase64url(await sha256(proof))
  const { id, token, expiresAt } = await retryWhenRateLimited(retry, () =>
    api.createRequest({ seconds, linkHash, proofHash }),
  )
  const request: RequestTarget = {
    kind: 'request',
    id,
    fragment: { acceptsFiles, publicKey },
    token,
  }
  return {
    request,
    own: { kind: 'own', id, fragment },
    fingerprint: await fingerprint(request),
    expiresAt,
  }
}
