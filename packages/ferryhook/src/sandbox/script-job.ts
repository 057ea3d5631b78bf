/** What goes to a thread that runs scripts, and what comes back. */

export interface ScriptJob {
  /** Whose script it is. */
  owner: string
  code: string
  /** Without one, the code is only looked at: whether it can run and has a transform. */
  event?: ScriptEvent
}

export interface ScriptEvent {
  /** JSON of what the script sees as the body. */
  body: string
  headers: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | string[]>>
  method: string
  id: string
  receivedAt: string
}

export type ScriptOutcome =
  | { type: 'checked' }
  | { type: 'dropped' }
  /** `body` is JSON, also of a text; `headers` is JSON that nobody has looked at yet. */
  | { type: 'json' | 'text'; body: string; headers?: string }
  | { type: 'failed'; code: ScriptFailure; message: string }

export type ScriptFailure =
  | 'invalid_code'
  | 'threw'
  | 'never_settled'
  | 'time_limit'
  | 'memory_limit'
  | 'stack_limit'
  | 'output_limit'
  | 'invalid_output'
  | 'crashed'

export interface ScriptAnswer {
  outcome: ScriptOutcome
  console: readonly string[]
}
