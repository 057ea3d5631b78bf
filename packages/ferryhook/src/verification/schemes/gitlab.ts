/**
 * GitLab: either a secret token in a header or, newer, a signing token and the headers of Standard
 * Webhooks. A source with a signing token requires a signature: the secret token does not protect
 * the body, and anyone who saw one request knows it.
 */
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import * as z from 'zod'
import { isSigningSecret } from '../../signing/secret-list.ts'
import { valid, defineScheme, invalid, tolerance, DEFAULT_TOLERANCE_SECONDS } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { verifyWebhookHeaders } from './standard-webhooks.ts'

export const gitlab = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('gitlab'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem: (secret) =>
    secret.startsWith('whsec_') && !isSigningSecret(secret)
      ? 'Enter the signing token as GitLab shows it: whsec_ and base64'
      : undefined,

  verify(check, { toleranceSeconds }) {
    const { request, secrets } = check
    const signingTokens = secrets.filter(isSigningSecret)
    if (signingTokens.length > 0 || headerOf(request, 'webhook-signature') !== undefined) {
      return verifyWebhookHeaders(
        { ...check, secrets: signingTokens },
        { family: 'webhook', toleranceSeconds },
      )
    }
    const token = headerOf(request, 'x-gitlab-token')
    if (token === undefined) return invalid('missing_header')
    // Node decodes each byte of a header as one character.
    // oxlint-disable-next-line no-control-regex
    if (!/^[\x00-\xff]+$/.test(token)) return invalid('malformed_header')
    const sent = Buffer.from(token, 'latin1')
    return secrets.some((secret) => timingSafeEquals(sent, Buffer.from(secret)))
      ? valid
      : invalid('no_match')
  },
})
