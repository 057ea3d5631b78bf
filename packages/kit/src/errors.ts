/**
 * Error catalogues: everything a client may be told is declared once, as data, next to the service
 * that says it. `docs/errors.md` and the OpenAPI descriptions are made from the same tables.
 */
import type { ClientErrorStatusCode, ServerErrorStatusCode } from 'hono/utils/http-status'

export type ErrorStatus = ClientErrorStatusCode | ServerErrorStatusCode

/** One wrong field of a request; never the value that was sent. */
export interface ErrorDetail {
  path: string
  message: string
}

export interface ApiErrorOptions {
  details?: readonly ErrorDetail[]
  /** Facts a program can act on, such as `{ triesLeft: 3 }`; sent to the client. */
  data?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
  /** For the log only; never sent. */
  cause?: unknown
}

/** An outcome that the client may see, word for word. Any other error is a defect. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly status: ErrorStatus
  readonly details: readonly ErrorDetail[] | undefined
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(entry: ErrorEntry, options: ApiErrorOptions = {}) {
    super(entry.message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = entry.code
    this.status = entry.status
    this.details = options.details
    this.data = options.data
    this.headers = options.headers
  }
}

/** One line of a catalogue, as the documentation shows it. */
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
    if (message.trim() !== message || message === '' || message.endsWith('.')) {
      throw new TypeError(
        `Cannot declare the error "${code}": its message must be a sentence without a period`,
      )
    }
    entries.set(name, Object.freeze({ code, status, message }))
  }
  const entry = (name: string): ErrorEntry => {
    const found = entries.get(name)
    if (!found)
      throw new TypeError(`Cannot make the error "${prefix}.${name}": it is not in the catalogue`)
    return found
  }
  const factory = (name: string, options?: ApiErrorOptions) => {
    const error = new ApiError(entry(name), options)
    // The trace starts where the service said no, not in this file.
    Error.captureStackTrace(error, factory)
    return error
  }
  return Object.assign(factory, { table, catalogue: Object.freeze([...entries.values()]), entry })
}
