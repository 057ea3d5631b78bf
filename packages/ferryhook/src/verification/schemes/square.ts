/** Square: base64 over the address exactly as registered, followed by the body. */
import * as z from 'zod'
import { anyMatch, decode, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { accepted, refused } from '../verdict.ts'

export const square = defineScheme({
  schema: z.strictObject({ algorithm: z.literal('square') }),

  verify({ request, secrets }) {
    const header = headerOf(request, 'x-square-hmacsha256-signature')
    if (header === undefined) return refused('missing_header')
    const claimed = decode('base64', header)
    if (claimed === undefined) return refused('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.url, request.body))
    return anyMatch([claimed], expected) ? accepted : refused('no_match')
  },
})
