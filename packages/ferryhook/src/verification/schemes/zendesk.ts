/** Zendesk: base64 over time and body. */
import * as z from 'zod'
import { anyMatch, decode, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const zendesk = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('zendesk'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-zendesk-webhook-signature')
    const time = headerOf(request, 'x-zendesk-webhook-signature-timestamp')
    if (header === undefined || time === undefined) return refused('missing_header')
    const signedAt = timeOf(time)
    const claimed = decode('base64', header)
    if (signedAt === undefined || claimed === undefined) return refused('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, time, request.body))
    return anyMatch([claimed], expected)
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})
