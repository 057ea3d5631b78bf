/**
 * Who sent a request: checks its AWS Signature Version 4, computed anew over the request as received.
 *
 * In two steps, so that nothing is read of a body whose sender is not even known: `readClaim` takes
 * what the headers say, `requireSigned` proves it with the body.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Clock } from './clock.ts'
import { KmsError } from './errors.ts'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/** A request says that it is from these credentials. */
export interface Claim {
  credentials: Credentials
  region: string
  date: Date
  /** The headers that are signed, with their values. */
  headers: Record<string, string>
  signature: Buffer
}

const MOST_SKEW_MS = 5 * 60 * 1000
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request, ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/
const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
/** They decide where, when and what; the last may be absent, and is then unknown. */
const MUST_BE_SIGNED = ['host', 'x-amz-date', 'x-amz-target']

export function readClaim(
  received: IncomingHttpHeaders,
  known: ReadonlyMap<string, Credentials>,
  clock: Clock,
): Claim {
  const { authorization } = received
  if (authorization === undefined) {
    throw refused('MissingAuthenticationTokenException', 'The request is not signed')
  }
  const [, accessKeyId = '', day, region = '', service, signedHeaders = '', signature = ''] =
    AUTHORIZATION.exec(authorization) ?? []
  if (accessKeyId === '') {
    throw refused('IncompleteSignatureException', 'Authorization must be a Signature Version 4')
  }
  if (service !== 'kms') throw invalidSignature('The credential must be scoped to the service kms')
  const date = dateOf(received['x-amz-date'], day, clock)
  const headers = signedOf(received, signedHeaders.split(';'))
  const credentials = known.get(accessKeyId)
  if (!credentials) {
    throw refused('UnrecognizedClientException', 'The access key is not one of this KMS')
  }
  return { credentials, region, date, headers, signature: Buffer.from(signature, 'hex') }
}

export async function requireSigned(claim: Claim, method: string, body: Uint8Array): Promise<void> {
  const { credentials, region, date, headers } = claim
  const declared = headers['x-amz-content-sha256']
  // Signed as declared, so what is declared must be true.
  if (declared !== undefined && declared !== createHash('sha256').update(body).digest('hex')) {
    throw invalidSignature('x-amz-content-sha256 is not the hash of the body')
  }
  const signer = new SignatureV4({
    service: 'kms',
    region,
    credentials,
    sha256: Sha256,
    applyChecksum: false,
  })
  const { headers: signed } = await signer.sign(
    { method, protocol: 'http:', hostname: '', path: '/', query: {}, headers, body },
    { signingDate: date, signableHeaders: new Set(Object.keys(headers)) },
  )
  const expected = Buffer.from(signed['authorization']?.slice(-64) ?? '', 'hex')
  if (expected.length !== 32 || !timingSafeEqual(expected, claim.signature)) {
    throw invalidSignature('The signature does not match the request')
  }
}

function dateOf(text: string | string[] | undefined, day: string | undefined, clock: Clock): Date {
  const [iso, ...parts] = AMZ_DATE.exec(String(text)) ?? []
  const [y, m, d, h, min, s] = parts
  const date = new Date(`${y}-${m}-${d}T${h}:${min}:${s}Z`)
  if (iso === undefined || Number.isNaN(date.getTime())) {
    throw invalidSignature('x-amz-date must be a time like 20260131T235959Z')
  }
  if (day !== iso.slice(0, 8)) throw invalidSignature('The credential is scoped to another day')
  if (Math.abs(date.getTime() - clock.now()) > MOST_SKEW_MS) {
    throw invalidSignature('x-amz-date is more than 5 minutes from now: sign anew, check the clock')
  }
  return date
}

function signedOf(received: IncomingHttpHeaders, names: string[]): Record<string, string> {
  for (const name of MUST_BE_SIGNED) {
    if (!names.includes(name) && (name !== 'x-amz-target' || received[name] !== undefined)) {
      throw invalidSignature(`The header ${name} must be signed`)
    }
  }
  return Object.fromEntries(
    names.map((name) => {
      const value = received[name]
      if (typeof value !== 'string') throw invalidSignature('A signed header is missing')
      return [name, value]
    }),
  )
}

function refused(name: string, message: string): KmsError {
  return new KmsError(name, message, 403)
}

function invalidSignature(message: string): KmsError {
  return refused('InvalidSignatureException', message)
}
