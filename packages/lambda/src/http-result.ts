/** Responses in the shape that HTTP APIs and function URLs expect. */
import { type HttpResponse, isWebResponse } from '@strongroom/kit/http/request'

export interface ResultHead {
  statusCode: number
  headers: Record<string, string>
  /** One `Set-Cookie` header each. */
  cookies: string[]
}

export interface HttpResult extends ResultHead {
  body: string
  isBase64Encoded: boolean
}

/** Lambda returns 6 MB at most, with the rest of the result. */
export const MAX_RESULT_BYTES = 6 * 1024 * 1024 - 64 * 1024

const TEXT = /^(?:text\/|application\/(?:json|javascript|problem\+json|x-ndjson)|image\/svg\+xml)/

export function toHead(response: HttpResponse | Response): ResultHead {
  if (isWebResponse(response)) {
    const headers = Object.fromEntries(
      [...response.headers].filter(([name]) => name !== 'set-cookie'),
    )
    return { statusCode: response.status, headers, cookies: response.headers.getSetCookie() }
  }
  const { status, contentType, headers: list = [] } = response
  const headers: Record<string, string> = {}
  if (contentType !== undefined) headers['content-type'] = contentType
  const cookies: string[] = []
  for (let at = 0; at < list.length; at += 2) {
    const [name, value] = [list[at]!, list[at + 1]!]
    if (name === 'set-cookie') cookies.push(value)
    else headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  return { statusCode: status, headers, cookies }
}

export async function toResult(response: HttpResponse | Response): Promise<HttpResult> {
  const head = toHead(response)
  if (!isWebResponse(response)) {
    return { ...head, body: response.status === 204 ? '' : response.body, isBase64Encoded: false }
  }
  const bytes = Buffer.from(await response.arrayBuffer())
  const isText =
    TEXT.test(head.headers['content-type'] ?? '') && head.headers['content-encoding'] === undefined
  return { ...head, body: bytes.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
}
