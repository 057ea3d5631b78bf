/** Square: base64 over the address exactly as registered, followed by the body. */
import * as z from 'zod'
import { hasMatch, decode, hmac } from '../crypto.ts'
import { valid, defineScheme, invalid } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const square = defineScheme({
  schema: z.strictObject({ algorithm: z.literal('square') }),

  verify({ request, secrets }) {
    const header = headerOf(request, 'x-square-hmacsha256-signature')
    if (header === undefined) return invalid('missing_header')
    const claimed = decode('base64', header)
    if (claimed === undefined) return invalid('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.url, request.body))
    return hasMatch([claimed], expected) ? valid : invalid('no_match')
  },
})
