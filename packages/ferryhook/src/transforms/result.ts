/** The result of a transform. */
import type { ScriptFailure } from '../sandbox/sandbox.ts'

export type TransformResult = Transformed | Dropped | TransformFailure

export interface Transformed {
  kind: 'transformed'
  body: Uint8Array
  contentType?: string
  /** Replace outgoing headers of the same names; names are in lower case. */
  headers?: Readonly<Record<string, string>>
  /** Console output of a script. */
  console?: readonly string[]
}

/** The event is not delivered, as if it had been filtered. */
export interface Dropped {
  kind: 'dropped'
  reason: string
  console: readonly string[]
}

/** The message is for the owner of the transform and may quote what the code threw. */
export interface TransformFailure {
  kind: 'failed'
  code: TransformFailureCode
  message: string
  /** Whether a retry with the same event may succeed. */
  isTransient: boolean
  /** Console output before the failure. */
  console: readonly string[]
}

export type TransformFailureCode =
  | ScriptFailure
  | 'body_not_json'
  | 'body_not_text'
  | 'unresponsive'
  | 'overloaded'

/** These are not caused by the transform itself, so a retry may succeed. */
const transient: ReadonlySet<TransformFailureCode> = new Set([
  'unresponsive',
  'crashed',
  'overloaded',
])

export function transformFailure(
  code: TransformFailureCode,
  message: string,
  console: readonly string[] = [],
): TransformFailure {
  return { kind: 'failed', code, message, isTransient: transient.has(code), console }
}
