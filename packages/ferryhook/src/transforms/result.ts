/** The result of a transform, and the error of one that failed. */
import type { ScriptFailure } from '../sandbox/sandbox.ts'

export type TransformResult = (Transformed | Dropped) & {
  /** Console output of a script. */
  console?: readonly string[]
}

export interface Transformed {
  body: Uint8Array
  contentType?: string
  /** Replace outgoing headers of the same names; names are in lower case. */
  headers?: Readonly<Record<string, string>>
  dropped?: never
}

/** The event is not delivered, as if it had been filtered. */
export interface Dropped {
  dropped: true
  reason: string
}

export type TransformErrorCode =
  | ScriptFailure
  | 'body_not_json'
  | 'body_not_text'
  | 'unresponsive'
  | 'overloaded'

/** These are not caused by the transform itself, so a retry may succeed. */
const transient: ReadonlySet<TransformErrorCode> = new Set([
  'unresponsive',
  'crashed',
  'overloaded',
])

/** The message is for the owner of the transform and may quote what the code threw. */
export class TransformError extends Error {
  override readonly name = 'TransformError'
  readonly code: TransformErrorCode
  /** Console output before the failure. */
  readonly console: readonly string[]

  constructor(code: TransformErrorCode, message: string, console: readonly string[] = []) {
    super(message)
    this.code = code
    this.console = console
  }

  /** Whether a retry with the same event may succeed. */
  get isTransient(): boolean {
    return transient.has(this.code)
  }
}
