/**
 * One request and its response, whose body is collected up to a limit. Implements undici's handler
 * directly, because the streams and signals of its `request` cost more than the request.
 */
import { concatBytes } from '@strongroom/platform/read-body'
import type { Dispatcher } from 'undici'

export interface Exchanged {
  status: number
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Record<string, string>
  body: Uint8Array
  /** The body had more bytes than the limit, or failed. */
  isTruncated: boolean
  /** Why the body failed; the bytes before that are kept. */
  error: unknown
}

interface ExchangeOptions {
  maxBytes: number
  /** Whether the connection is closed instead of reading the body. */
  isBodyIgnored(status: number, headers: Readonly<Record<string, string>>): boolean
  resolve(response: Exchanged): void
  /** Called if there is no response. */
  reject(error: unknown): void
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions
  #controller: Dispatcher.DispatchController | undefined
  #response: Pick<Exchanged, 'status' | 'headers'> | undefined
  #chunks: Uint8Array[] = []
  #size = 0
  #isDone = false

  constructor(options: ExchangeOptions) {
    this.#options = options
  }

  /** Ends the request, and closes its connection. A request that has no connection yet is not sent. */
  end(reason: Error): void {
    if (this.#isDone) return
    this.#finish(true, reason)
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isDone) controller.abort(new Error('The request has ended'))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    received: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isDone || status < 200) return
    const headers = flatten(received)
    this.#response = { status, headers }
    if (this.#options.isBodyIgnored(status, headers)) this.#truncate(controller)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isDone) return
    const part = chunk.subarray(0, this.#options.maxBytes - this.#size)
    this.#chunks.push(part)
    this.#size += part.byteLength
    if (part.byteLength < chunk.byteLength) this.#truncate(controller)
  }

  onResponseEnd(): void {
    if (!this.#isDone) this.#finish(false, undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isDone) this.#finish(true, error)
  }

  #truncate(controller: Dispatcher.DispatchController): void {
    this.#finish(true, undefined)
    controller.abort(new Error('The rest of the response is not read'))
  }

  #finish(isTruncated: boolean, error: unknown): void {
    this.#isDone = true
    const { resolve, reject } = this.#options
    if (!this.#response) return reject(error)
    const { status, headers } = this.#response
    resolve({ status, headers, body: concatBytes(this.#chunks, this.#size), isTruncated, error })
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flattened: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? ''
    flattened[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flattened
}
