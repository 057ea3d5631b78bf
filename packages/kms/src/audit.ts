/**
 * What is recorded of each call: who did what to which key in which context, and how it ended. Never
 * plaintext, key material or blobs. Contexts stand here in clear, so they must hold no secrets.
 */
import type { Trail } from './operations/operation.ts'

export interface AuditEvent extends Readonly<Trail> {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly operation: string
  readonly caller: string
  /** `Success`, or the name of the error. */
  readonly outcome: string
}

/** Throws if it cannot record; the call then fails, and its answer is withheld. */
export type Audit = (event: AuditEvent) => void
