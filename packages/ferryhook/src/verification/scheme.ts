/** What a way of signing is made of; there is one for each provider in `schemes/`. */
import type { z } from 'zod'
import type { PayPalCertificates } from './paypal-certificates.ts'
import type { SignedRequest } from './signed-request.ts'
import type { Verdict } from './verdict.ts'

export interface Check {
  request: SignedRequest
  /** At least one, none empty; any of them may match. */
  secrets: readonly string[]
  /** Milliseconds since the epoch. */
  now: number
  payPalCertificates?: PayPalCertificates | undefined
}

export interface Scheme<Schema extends z.ZodType = z.ZodType> {
  /** Its name as `algorithm`, and its options. */
  schema: Schema
  /** What is wrong with a secret that somebody wants to store, and what to give instead. */
  secretProblem?(secret: string): string | undefined
  /** Says no to whatever a request holds, and never throws because of it. */
  verify(check: Check, scheme: z.infer<Schema>): Verdict | Promise<Verdict>
}

export function defineScheme<Schema extends z.ZodType>(scheme: Scheme<Schema>): Scheme<Schema> {
  return scheme
}
