/** Linear: hexadecimal over the body, which contains the time of signing. */
import * as z from 'zod'
import { hasMatch, decode, hmac } from '../crypto.ts'
import { defineScheme, checkAge, invalid, tolerance } from '../scheme.ts'
import { propertyOf, headerOf, parseJsonBody } from '../signed-request.ts'

export const linear = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('linear'),
    toleranceSeconds: tolerance.default(60),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'linear-signature')
    if (header === undefined) return invalid('missing_header')
    const claimed = decode('hex', header)
    if (claimed === undefined) return invalid('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.body))
    if (!hasMatch([claimed], expected)) return invalid('no_match')
    // The header with the time is not signed.
    const signedAt = propertyOf(parseJsonBody(request.body), 'webhookTimestamp')
    if (typeof signedAt !== 'number') return invalid('malformed_body')
    return checkAge(signedAt, now, toleranceSeconds)
  },
})
