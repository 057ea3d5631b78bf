/** Slack: `X-Slack-Signature: v0=…` over `v0:{time}:{body}`. */
import * as z from 'zod'
import { hasMatch, decode, hmac } from '../crypto.ts'
import {
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
} from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const slack = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('slack'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem: (secret) =>
    /^(?:xox[a-z]-|xapp-)/.test(secret)
      ? 'Enter the signing secret of the app, from its basic information, not a token'
      : undefined,

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-slack-signature')
    const time = headerOf(request, 'x-slack-request-timestamp')
    if (header === undefined || time === undefined) return invalid('missing_header')
    const signedAt = parseTimestamp(time)
    const claimed = header.startsWith('v0=') ? decode('hex', header.slice(3)) : undefined
    if (signedAt === undefined || claimed === undefined) return invalid('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, `v0:${time}:`, request.body))
    return hasMatch([claimed], expected)
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})
