/** Slack: `X-Slack-Signature: v0=…` over `v0:{time}:{body}`. */
import * as z from 'zod'
import { anyMatch, decode, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const slack = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('slack'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  secretProblem: (secret) =>
    /^(?:xox[a-z]-|xapp-)/.test(secret)
      ? 'Give the signing secret of the app, from its basic information, not a token'
      : undefined,

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-slack-signature')
    const time = headerOf(request, 'x-slack-request-timestamp')
    if (header === undefined || time === undefined) return refused('missing_header')
    const signedAt = timeOf(time)
    const claimed = header.startsWith('v0=') ? decode('hex', header.slice(3)) : undefined
    if (signedAt === undefined || claimed === undefined) return refused('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, `v0:${time}:`, request.body))
    return anyMatch([claimed], expected)
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})
