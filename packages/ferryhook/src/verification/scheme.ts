/** The parts of a signing scheme; `schemes/` has one for each provider. */
import * as z from 'zod'
import type { PayPalCertificates } from './paypal-certificates.ts'
import type { SignedRequest } from './signed-request.ts'

export interface VerificationInput {
  request: SignedRequest
  /** At least one, none of them empty. One match is enough. */
  secrets: readonly string[]
  /** Milliseconds since the epoch. */
  now: number
  payPalCertificates?: PayPalCertificates | undefined
}

export interface Scheme<Schema extends z.ZodType = z.ZodType> {
  /** The `algorithm`, and its options. */
  schema: Schema
  /** Tells the owner why a secret cannot be right, and what to enter instead. */
  secretProblem?(secret: string): string | undefined
  /** Never throws because of what a request contains. */
  verify(
    input: VerificationInput,
    scheme: z.infer<Schema>,
  ): VerificationResult | Promise<VerificationResult>
}

export function defineScheme<Schema extends z.ZodType>(scheme: Scheme<Schema>): Scheme<Schema> {
  return scheme
}

/** Why a request was rejected. Only the owner of the source sees the reason, never the sender. */
export type FailureReason =
  /** The source has no secret that fits the scheme. */
  | 'no_secret'
  | 'missing_header'
  | 'malformed_header'
  /** The body has a form that the provider never signs. */
  | 'malformed_body'
  | 'no_match'
  | 'too_old'
  | 'too_new'
  | 'untrusted_certificate'
  | 'certificate_unavailable'

export type VerificationResult = { ok: true } | { ok: false; reason: FailureReason }

export const valid: VerificationResult = { ok: true }

export function invalid(reason: FailureReason): VerificationResult {
  return { ok: false, reason }
}

/** Milliseconds from Unix seconds, Unix milliseconds or ISO 8601 in UTC. */
export function parseTimestamp(text: string): number | undefined {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000
  if (/^\d{12,14}$/.test(text)) return Number(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

/** Checks both directions: a signature from the future could be stored and used later. */
export function checkAge(
  signedAt: number,
  now: number,
  toleranceSeconds: number,
): VerificationResult {
  const age = now - signedAt
  if (age > toleranceSeconds * 1000) return invalid('too_old')
  if (age < -toleranceSeconds * 1000) return invalid('too_new')
  return valid
}

const outOfRange = 'Must be a whole number of seconds from 1 to 604800'

/** The option `toleranceSeconds` of schemes that sign a time. */
export const tolerance = z
  .number(outOfRange)
  .int(outOfRange)
  .min(1, outOfRange)
  .max(604_800, outOfRange)

/** The default of most providers' own libraries. */
export const DEFAULT_TOLERANCE_SECONDS = 300
