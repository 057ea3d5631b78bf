/** Headers that a transform may give to a delivery. */
import * as z from 'zod'
import { TransformError } from './error.ts'

const mostHeaders = 50
const longestValue = 4_096

/** They belong to the connection, or say who we are and that the body is ours. */
const reserved =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect|cookie|user-agent|webhook-.*|x-ferryhook-.*)$/

const Headers = z.record(z.string(), z.union([z.string(), z.number()]))

/** `json` comes from a script. Names in lower case. */
export function outputHeaders(json: string): Record<string, string> {
  const { data } = Headers.safeParse(JSON.parse(json))
  if (!data) throw invalid('The headers are not an object of names and texts')
  const headers = Object.entries(data).map(
    ([name, value]) => [name.toLowerCase(), String(value).trim()] as const,
  )
  if (headers.length > mostHeaders) throw invalid(`There are more than ${mostHeaders} headers`)
  for (const [name, value] of headers) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) {
      throw invalid('A header has a name that HTTP does not allow')
    }
    if (reserved.test(name)) throw invalid(`The header ${name} is not for a transform to set`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value) || value.length > longestValue) {
      throw invalid(`The header ${name} has a value that HTTP does not allow`)
    }
  }
  return Object.fromEntries(headers)
}

function invalid(message: string): TransformError {
  return new TransformError('invalid_output', message)
}
