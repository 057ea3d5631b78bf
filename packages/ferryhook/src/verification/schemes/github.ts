/** GitHub: `X-Hub-Signature-256: sha256=…` over the body; old servers have SHA-1 alone. */
import * as z from 'zod'
import { anyMatch, decode, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { accepted, refused } from '../verdict.ts'

export const github = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('github'),
    /** Whether a request that has no SHA-256 signature may have one with SHA-1. */
    legacySha1: z.boolean('Give legacySha1 as true or false').default(false),
  }),

  verify({ request, secrets }, { legacySha1 }) {
    const current = headerOf(request, 'x-hub-signature-256')
    const header = current ?? (legacySha1 ? headerOf(request, 'x-hub-signature') : undefined)
    if (header === undefined) return refused('missing_header')
    const hash = current === undefined ? 'sha1' : 'sha256'
    const prefix = `${hash}=`
    const claimed = header.startsWith(prefix)
      ? decode('hex', header.slice(prefix.length))
      : undefined
    if (claimed === undefined) return refused('malformed_header')
    const expected = secrets.map((secret) => hmac(hash, secret, request.body))
    return anyMatch([claimed], expected) ? accepted : refused('no_match')
  },
})
