/** A transform that failed: what its owner did wrong, or what we could not do for him. */
import type { ScriptFailure } from '../sandbox/script-job.ts'

export type TransformErrorCode =
  | ScriptFailure
  | 'body_not_json'
  | 'body_not_text'
  | 'unresponsive'
  | 'overloaded'

/** These say nothing of the transform, and another try may do. */
const passing: ReadonlySet<TransformErrorCode> = new Set(['unresponsive', 'crashed', 'overloaded'])

/** Its message is for the owner of the transform, and may quote what his code threw. */
export class TransformError extends Error {
  override readonly name = 'TransformError'
  readonly code: TransformErrorCode
  /** What the code wrote to the console before. */
  readonly console: readonly string[]

  constructor(code: TransformErrorCode, message: string, console: readonly string[] = []) {
    super(message)
    this.code = code
    this.console = console
  }

  /** Whether the same event may pass at another time; if not, trying again is in vain. */
  get isPassing(): boolean {
    return passing.has(this.code)
  }
}
