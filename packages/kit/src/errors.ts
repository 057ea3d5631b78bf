/**
 * Error catalogues: every error that a client can get is declared once, as data, next to its service.
 * `docs/errors.md` and the OpenAPI descriptions are generated from the same tables.
 */
import type { ClientErrorStatusCode, ServerErrorStatusCode } from 'hono/utils/http-status'

export type ErrorStatus = ClientErrorStatusCode | ServerErrorStatusCode

/** One invalid field of a request; never its value. */
export interface ErrorDetail {
  path: string
  message: string
}

export interface ApiErrorOptions {
  details?: readonly ErrorDetail[]
  /** Sent to the client, for programs to act on: `{ triesLeft: 3 }`. */
  data?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
  /** For the log; never sent to the client. */
  cause?: unknown
  /** A decision with a 5xx status, not a failure: anybody can cause it, so only the access log has it. */
  isExpected?: boolean
}

/** An error that the client sees as it is. Any other error is a defect. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: ErrorStatus
  readonly details: readonly ErrorDetail[] | undefined
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly isExpected: boolean

  constructor(entry: ErrorEntry, options: ApiErrorOptions = {}) {
    super(entry.message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = entry.code
    this.status = entry.status
    this.details = options.details
    this.data = options.data
    this.headers = options.headers
    this.isExpected = options.isExpected ?? false
  }
}

/**
 * Why a start or a command failed, as one line that a person can act on. Shown without a stack.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  /** For programs, as in the `--json` output of commands. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** One line of a catalogue, as in the documentation. */
export interface ErrorEntry {
  code: string
  status: ErrorStatus
  message: string
}

export type ErrorTable = Readonly<Record<string, readonly [status: ErrorStatus, message: string]>>

export interface ErrorFactory<T extends ErrorTable = ErrorTable> {
  (code: keyof T & string, options?: ApiErrorOptions): ApiError
  readonly table: T
  readonly catalogue: readonly ErrorEntry[]
  /** The catalogue line of a code. */
  entry(code: keyof T & string): ErrorEntry
}

/**
 * Declares the errors of one service: `const sealedError = defineErrors('sealed', { gone: [404, '…'] })`,
 * then `throw sealedError('gone')` has the code `sealed.gone`.
 */
export function defineErrors<const T extends ErrorTable>(
  prefix: string,
  table: T,
): ErrorFactory<T> {
  const entries = new Map<string, ErrorEntry>()
  for (const [name, [status, message]] of Object.entries(table)) {
    const code = `${prefix}.${name}`
    if (!/^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/.test(code)) {
      throw new TypeError(
        `Cannot declare the error "${code}": use lower case, digits and underscores`,
      )
    }
    if (!isWellPunctuated(message)) {
      throw new TypeError(
        `The message of the error "${code}" is malformed. Write one sentence without a period, or several with a period each.`,
      )
    }
    entries.set(name, Object.freeze({ code, status, message }))
  }
  const entry = (name: string): ErrorEntry => {
    const found = entries.get(name)
    if (!found)
      throw new TypeError(`Cannot create the error "${prefix}.${name}": it is not in the catalogue`)
    return found
  }
  const factory = (name: string, options?: ApiErrorOptions) => {
    const error = new ApiError(entry(name), options)
    // The trace starts where the service throws, not in this file.
    Error.captureStackTrace(error, factory)
    return error
  }
  return Object.assign(factory, { table, catalogue: Object.freeze([...entries.values()]), entry })
}

function isWellPunctuated(message: string): boolean {
  const hasSeveralSentences = /\. [A-Z"'\d]/.test(message)
  return (
    message !== '' && message.trim() === message && message.endsWith('.') === hasSeveralSentences
  )
}
