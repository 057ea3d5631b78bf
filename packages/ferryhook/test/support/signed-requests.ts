/** Requests as providers sign them, and their verification results. */
import type { FailureReason } from '../../src/verification/scheme.ts'
import { type SigningScheme, verifySignature } from '../../src/verification/schemes.ts'
import type { SignedRequest } from '../../src/verification/signed-request.ts'

export const NOW = Date.parse('2026-03-01T12:00:00Z')
export const URL_OF_SOURCE = 'https://hooks.example.com/in/src_0123456789abcdef?via=1'

export interface Signing {
  secret: string
  body: Buffer
  /** Milliseconds since the epoch. */
  at: number
}

export interface Signer {
  name: string
  scheme: SigningScheme
  secrets: [string, string]
  body: string
  /** All its headers; each of them is required, except the content type. */
  sign(signing: Signing): Record<string, string>
  /** Changes the timestamp inside the signed body. */
  bodyAt?(at: number): string
  toleranceSeconds?: number
  contentType?: string
  /** Whether the source has a public key, or an id, instead of a shared secret. */
  asymmetric?: true
  /** Expected results that differ from the usual ones. */
  alteredBody?: 'accepted'
  emptyBody?: FailureReason
  doubledSignature?: 'accepted'
}

/** A request of the signer, with changes made by the test. */
export function requestOf(
  signer: Signer,
  given: { secret?: string; at?: number; body?: string } = {},
): SignedRequest {
  const { secret = signer.secrets[0], at = NOW } = given
  const body = Buffer.from(given.body ?? signer.bodyAt?.(at) ?? signer.body)
  return {
    method: 'POST',
    url: URL_OF_SOURCE,
    headers: {
      'content-type': signer.contentType ?? 'application/json',
      ...signer.sign({ secret, body, at }),
    },
    body,
  }
}

/** `accepted`, or the reason. */
export async function outcome(
  signer: Pick<Signer, 'scheme' | 'secrets'>,
  request: SignedRequest,
  given: { secrets?: readonly string[]; now?: number } = {},
): Promise<'accepted' | FailureReason> {
  const { secrets = signer.secrets.slice(0, 1), now = NOW } = given
  const verdict = await verifySignature({ scheme: signer.scheme, secrets, request, now })
  return verdict.ok ? 'accepted' : verdict.reason
}

/** The headers that contain the signature. */
export function signatureHeaders({ headers }: SignedRequest): [name: string, value: string][] {
  return Object.entries(headers)
    .filter(([name]) => name !== 'content-type')
    .map(([name, value]) => [name, value ?? ''])
}

export function withHeader(
  request: SignedRequest,
  name: string,
  value: string | undefined,
): SignedRequest {
  return { ...request, headers: { ...request.headers, [name]: value } }
}
