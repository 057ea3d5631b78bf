/** Zendesk: base64 over time and body. */
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

export const zendesk = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('zendesk'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-zendesk-webhook-signature')
    const time = headerOf(request, 'x-zendesk-webhook-signature-timestamp')
    if (header === undefined || time === undefined) return invalid('missing_header')
    const signedAt = parseTimestamp(time)
    const claimed = decode('base64', header)
    if (signedAt === undefined || claimed === undefined) return invalid('malformed_header')
    const expected = secrets.map((secret) => hmac('sha256', secret, time, request.body))
    return hasMatch([claimed], expected)
      ? checkAge(signedAt, now, toleranceSeconds)
      : invalid('no_match')
  },
})
