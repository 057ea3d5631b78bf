/**
 * Verifies AWS Signature Version 4 of a request, as a server.
 *
 * In two steps, so that the body of an unknown sender is not read: `parseSignature` reads the headers,
 * `verifySignature` computes the signature over them and the body.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from './clock.ts'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/** The expected service and credentials of signatures. */
export interface Verifier {
  /** The service in the scope of a credential: `dynamodb` or `kms`. */
  service: string
  known: ReadonlyMap<string, Credentials>
  clock: Clock
}

/** The unverified signature in the headers of a request. */
export interface SignatureClaim {
  credentials: Credentials
  /** Day, region and service. */
  scope: readonly [day: string, region: string, service: string]
  /** As in x-amz-date. */
  time: string
  /** The signed headers, in the order of the signature. */
  headers: readonly (readonly [name: string, value: string])[]
  signature: Buffer
}

/** Has the name of AWS's exception. Each service turns it into its own error. */
export class SignatureError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

const MAX_SKEW_MS = 5 * 60 * 1000
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request, ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/
const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
/** The target may be absent, which makes the operation unknown. */
const MUST_BE_SIGNED = ['host', 'x-amz-date', 'x-amz-target']

/** Credentials by access key. Throws if there are none, or if a key is empty or occurs twice. */
export function indexCredentials(
  credentials: readonly Credentials[],
): ReadonlyMap<string, Credentials> {
  const known = new Map(credentials.map((each) => [each.accessKeyId, each]))
  const areUsable = credentials.every(
    ({ accessKeyId, secretAccessKey }) => accessKeyId !== '' && secretAccessKey !== '',
  )
  if (known.size === 0 || known.size < credentials.length || !areUsable) {
    throw new Error('Credentials must have different access keys, each with a secret')
  }
  return known
}

export function parseSignature(
  received: IncomingHttpHeaders,
  { service, known, clock }: Verifier,
): SignatureClaim {
  const { authorization } = received
  if (authorization === undefined) {
    throw new SignatureError(
      'MissingAuthenticationTokenException',
      'Request is missing Authentication Token',
    )
  }
  const [, accessKeyId, day = '', region = '', scoped = '', signedHeaders = '', signature = ''] =
    AUTHORIZATION.exec(authorization) ?? []
  if (accessKeyId === undefined) {
    throw new SignatureError(
      'IncompleteSignatureException',
      'Authorization must be a Signature Version 4',
    )
  }
  if (scoped !== service) throw invalid(`The credential must be scoped to the service ${service}`)
  const time = parseTime(received['x-amz-date'], day, clock)
  const headers = signedHeadersOf(received, signedHeaders.split(';'))
  const credentials = known.get(accessKeyId)
  if (!credentials) {
    throw new SignatureError(
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    )
  }
  return {
    credentials,
    scope: [day, region, service],
    time,
    headers,
    signature: Buffer.from(signature, 'hex'),
  }
}

/** Verifies a POST to `/` without a query, the only form of requests to DynamoDB and KMS. */
export function verifySignature(claim: SignatureClaim, body: Uint8Array): void {
  const { credentials, scope, time, headers } = claim
  const hash = createHash('sha256').update(body).digest('hex')
  const declared = headers.find(([name]) => name === 'x-amz-content-sha256')?.[1]
  // The signature covers the declared hash, so it must be the hash of this body.
  if (declared !== undefined && declared !== hash) {
    throw invalid('x-amz-content-sha256 is not the hash of the body')
  }
  const canonical = [
    'POST',
    '/',
    '',
    ...headers.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, ' ')}`),
    '',
    headers.map(([name]) => name).join(';'),
    hash,
  ].join('\n')
  const text = [
    'AWS4-HMAC-SHA256',
    time,
    [...scope, 'aws4_request'].join('/'),
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  let key: Buffer = Buffer.from(`AWS4${credentials.secretAccessKey}`)
  for (const part of [...scope, 'aws4_request', text]) {
    key = createHmac('sha256', key).update(part).digest()
  }
  if (!timingSafeEqual(key, claim.signature)) {
    throw invalid(
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
    )
  }
}

function parseTime(text: string | string[] | undefined, day: string, clock: Clock): string {
  const [iso, ...parts] = AMZ_DATE.exec(String(text)) ?? []
  const [y, m, d, h, min, s] = parts
  const time = Date.parse(`${y}-${m}-${d}T${h}:${min}:${s}Z`)
  if (iso === undefined || Number.isNaN(time)) {
    throw invalid('x-amz-date must be a time like 20260131T235959Z')
  }
  if (day !== iso.slice(0, 8)) throw invalid('The credential is scoped to another day')
  if (Math.abs(time - clock.now()) > MAX_SKEW_MS) {
    throw invalid('x-amz-date is more than 5 minutes from now: sign again, check the clock')
  }
  return iso
}

function signedHeadersOf(received: IncomingHttpHeaders, names: string[]): [string, string][] {
  for (const name of MUST_BE_SIGNED) {
    if (!names.includes(name) && (name !== 'x-amz-target' || received[name] !== undefined)) {
      throw invalid(`The header ${name} must be signed`)
    }
  }
  return names.map((name) => {
    const value = received[name]
    if (typeof value !== 'string') throw invalid('A signed header is missing')
    return [name, value]
  })
}

function invalid(message: string): SignatureError {
  return new SignatureError('InvalidSignatureException', message)
}
