/** Requests of HTTP APIs (payload format 2.0) and of function URLs, which have the same shape. */
import type { BodyBudget, BudgetedRead } from '@strongroom/platform/read-body'
import type { HttpRequest } from '@strongroom/kit/http/request'

export interface HttpEvent {
  version: '2.0'
  rawPath: string
  rawQueryString: string
  cookies?: string[]
  /** Names in lower case; the values of a repeated header are joined with commas. */
  headers: Record<string, string | undefined>
  requestContext: {
    domainName: string
    http: { method: string; sourceIp: string }
  }
  body?: string
  isBase64Encoded?: boolean
}

/** An event as the harness takes it. Nothing of it is decoded: signatures are over what was sent. */
export class LambdaRequest implements HttpRequest {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peerAddress: string
  readonly bodyBytes: number
  readonly platform = {}
  readonly #body: Buffer
  readonly #host: string
  #leave: (() => void) | undefined

  constructor(event: HttpEvent) {
    const { rawPath, rawQueryString, requestContext, body = '', isBase64Encoded = false } = event
    this.method = requestContext.http.method
    this.target = encodePath(rawPath) + (rawQueryString === '' ? '' : `?${rawQueryString}`)
    this.rawHeaders = rawHeadersOf(event)
    this.peerAddress = requestContext.http.sourceIp
    this.#body = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    this.bodyBytes = this.#body.length
    this.#host = event.headers['host'] ?? requestContext.domainName
  }

  get host(): string {
    return this.#host
  }

  get path(): string {
    return this.target.split('?', 1)[0] ?? ''
  }

  async readBody(maxBytes: number, budget: BodyBudget): Promise<BudgetedRead> {
    if (this.#body.length > maxBytes) return { kind: 'too_large' }
    if (!budget.take(this.#body.length)) return { kind: 'no_capacity' }
    return { kind: 'read', bytes: this.#body }
  }

  /** API Gateway sends whole requests. */
  isAborted(): boolean {
    return false
  }

  onDisconnect(listener: () => void): void {
    this.#leave = listener
  }

  /** For streams: the client has left. */
  disconnect(): void {
    this.#leave?.()
  }

  web(): Request {
    const hasBody = this.#body.length > 0 && this.method !== 'GET' && this.method !== 'HEAD'
    const headers = new Headers()
    for (let at = 0; at < this.rawHeaders.length; at += 2) {
      headers.append(this.rawHeaders[at]!, this.rawHeaders[at + 1]!)
    }
    return new Request(`https://${this.#host}${this.target}`, {
      method: this.method,
      headers,
      ...(hasBody && { body: this.#body }),
    })
  }
}

/** HTTP APIs decode the path, so what a URL cannot have is encoded again. */
function encodePath(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e]|["#<>?\\^`{|}]/gu, (character) =>
    Array.from(
      Buffer.from(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  )
}

function rawHeadersOf({ headers, cookies }: HttpEvent): string[] {
  const raw: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || (name === 'cookie' && cookies)) continue
    raw.push(name, value)
  }
  if (cookies && cookies.length > 0) raw.push('cookie', cookies.join('; '))
  return raw
}
