/**
 * GitLab: a token that is sent along, or, newer, a signing token and the headers of Standard
 * Webhooks. Where there can be a signature there must be one: the token alone says nothing about the
 * body, and whoever saw one request knows it.
 */
import * as z from 'zod'
import { isSigningSecret } from '../../signing/webhook-secret.ts'
import { sameBytes } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { tolerance, usualTolerance } from '../timestamp.ts'
import { accepted, refused } from '../verdict.ts'
import { verifyWebhookHeaders } from './standard-webhooks.ts'

export const gitlab = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('gitlab'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  secretProblem: (secret) =>
    secret.startsWith('whsec_') && !isSigningSecret(secret)
      ? 'Give the signing token as GitLab shows it: whsec_ and base64'
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
    if (token === undefined) return refused('missing_header')
    // Node reads each byte of a header as one character.
    // oxlint-disable-next-line no-control-regex
    if (!/^[\x00-\xff]+$/.test(token)) return refused('malformed_header')
    const sent = Buffer.from(token, 'latin1')
    return secrets.some((secret) => sameBytes(sent, Buffer.from(secret)))
      ? accepted
      : refused('no_match')
  },
})
