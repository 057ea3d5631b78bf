/** GitHub: `X-Hub-Signature-256: sha256=…` over the body; old servers send only SHA-1. */
import * as z from 'zod'
import { hasMatch, decode, hmac } from '../crypto.ts'
import { valid, defineScheme, invalid } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const github = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('github'),
    /** Whether a request without a SHA-256 signature may have one with SHA-1. */
    legacySha1: z.boolean('Must be true or false').default(false),
  }),

  verify({ request, secrets }, { legacySha1 }) {
    const current = headerOf(request, 'x-hub-signature-256')
    const header = current ?? (legacySha1 ? headerOf(request, 'x-hub-signature') : undefined)
    if (header === undefined) return invalid('missing_header')
    const hash = current === undefined ? 'sha1' : 'sha256'
    const prefix = `${hash}=`
    const claimed = header.startsWith(prefix)
      ? decode('hex', header.slice(prefix.length))
      : undefined
    if (claimed === undefined) return invalid('malformed_header')
    const expected = secrets.map((secret) => hmac(hash, secret, request.body))
    return hasMatch([claimed], expected) ? valid : invalid('no_match')
  },
})
