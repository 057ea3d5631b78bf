/** Why a request failed, in words for people. */

/** A response of the server that reports an error. */
export class ApiFailure extends Error {
  override name = 'ApiFailure'
  readonly status: number
  /** Such as `ferryhook.connection_changed`. */
  readonly code: string
  readonly data: Record<string, unknown>
  /** Invalid fields of the request: `body.name` and what is wrong with it. */
  readonly details: readonly { path: string; message: string }[]
  readonly requestId: string | undefined
  /** When the server accepts a request again. */
  readonly retryAfterMs: number | undefined

  constructor(input: {
    status: number
    code: string
    message: string
    data?: Record<string, unknown> | undefined
    details?: readonly { path: string; message: string }[] | undefined
    requestId?: string | undefined
    retryAfterMs?: number | undefined
  }) {
    super(input.message)
    this.status = input.status
    this.code = input.code
    this.data = input.data ?? {}
    this.details = input.details ?? []
    this.requestId = input.requestId
    this.retryAfterMs = input.retryAfterMs
  }
}

/** The server could not be reached, or the connection was lost. */
export class ConnectionFailure extends Error {
  override name = 'ConnectionFailure'

  constructor(options?: ErrorOptions) {
    super('The server could not be reached. Check the connection.', options)
  }
}

export function hasCode(error: unknown, ...codes: string[]): error is ApiFailure {
  return error instanceof ApiFailure && codes.includes(error.code)
}

/** Whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionFailure) return true
  return error instanceof ApiFailure && (error.status === 429 || error.status >= 500)
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiFailure || error instanceof ConnectionFailure) return error.message
  return 'Something unexpected went wrong in this page. Reload it and try again.'
}
