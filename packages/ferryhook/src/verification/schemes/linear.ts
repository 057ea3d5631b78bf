/** Linear: hexadecimal over the body, which says itself when it was signed. */
import * as z from 'zod'
import { anyMatch, decode, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { attributeOf, headerOf, jsonOf } from '../signed-request.ts'
import { judgeAge, tolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const linear = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('linear'),
    toleranceSeconds: tolerance.default(60),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'linear-signature')
    if (header === undefined) return refused('missing_header')
    const claimed = decode('hex', header)
    if (claimed === undefined) return refused('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.body))
    if (!anyMatch([claimed], expected)) return refused('no_match')
    // There is a header with the time too, which nobody signed.
    const signedAt = attributeOf(jsonOf(request.body), 'webhookTimestamp')
    if (typeof signedAt !== 'number') return refused('malformed_body')
    return judgeAge(signedAt, now, toleranceSeconds)
  },
})
