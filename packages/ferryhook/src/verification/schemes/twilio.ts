/**
 * Twilio: HMAC-SHA1 over the address and the fields of a form. For any other body the address
 * contains its hash as `bodySHA256`, and only the address is signed.
 */
import { createHash } from 'node:crypto'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import * as z from 'zod'
import { hasMatch, decode, hmac } from '../crypto.ts'
import { valid, defineScheme, type FailureReason, invalid } from '../scheme.ts'
import { headerOf, type SignedRequest } from '../signed-request.ts'

export const twilio = defineScheme({
  schema: z.strictObject({ algorithm: z.literal('twilio') }),

  secretProblem: (secret) =>
    /^(?:AC|SK)[0-9a-f]{32}$/i.test(secret)
      ? 'Enter the auth token of the account, not its SID or that of an API key'
      : undefined,

  verify({ request, secrets }) {
    const header = headerOf(request, 'x-twilio-signature')
    if (header === undefined) return invalid('missing_header')
    const claimed = decode('base64', header)
    if (claimed === undefined) return invalid('malformed_header')
    const content = signedContent(request)
    if ('reason' in content) return invalid(content.reason)
    const urls = withAndWithoutPort(request.url)
    const expected = secrets.flatMap((secret) =>
      urls.map((url) => hmac('sha1', secret, url, content.text)),
    )
    return hasMatch([claimed], expected) ? valid : invalid('no_match')
  },
})

/** The text that is signed after the address. */
function signedContent({
  url,
  headers,
  body,
}: SignedRequest): { text: string } | { reason: FailureReason } {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? []
  const bodyHash = new URLSearchParams(query).get('bodySHA256')
  if (bodyHash !== null) {
    const claimed = decode('hex', bodyHash)
    const right = claimed && timingSafeEquals(claimed, createHash('sha256').update(body).digest())
    return right ? { text: '' } : { reason: 'no_match' }
  }
  if (body.byteLength === 0) return { text: '' }
  const type = headerOf({ headers }, 'content-type') ?? ''
  // The signature of the address would not protect any other body.
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    return { reason: 'malformed_body' }
  }
  return { text: formText(new URLSearchParams(Buffer.from(body).toString())) }
}

/** Sorted names with their sorted values; repeated values of a name count once. */
function formText(form: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of form) {
    values.set(name, (values.get(name) ?? new Set()).add(value))
  }
  return [...values.keys()]
    .toSorted()
    .flatMap((name) => [...(values.get(name) ?? [])].toSorted().map((value) => name + value))
    .join('')
}

/** Whether Twilio signs the port of an address depends on the product. */
function withAndWithoutPort(url: string): string[] {
  const [, scheme, host, rest] = /^(https?):\/\/([^/?#]+?)(?::\d+)?((?:[/?#].*)?)$/s.exec(url) ?? []
  if (scheme === undefined) return [url]
  const port = scheme === 'https' ? 443 : 80
  return [...new Set([url, `${scheme}://${host}${rest}`, `${scheme}://${host}:${port}${rest}`])]
}
