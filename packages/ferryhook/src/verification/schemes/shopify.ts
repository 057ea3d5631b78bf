/** Shopify: base64 over the body, in a header that lost its `X-` with the newer kind of events. */
import * as z from 'zod'
import { anyMatch, decodeAny, hmac } from '../digests.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { accepted, refused } from '../verdict.ts'

export const shopify = defineScheme({
  schema: z.strictObject({ algorithm: z.literal('shopify') }),

  verify({ request, secrets }) {
    const headers = ['x-shopify-hmac-sha256', 'shopify-hmac-sha256']
      .map((name) => headerOf(request, name))
      .filter((header) => header !== undefined)
    if (headers.length === 0) return refused('missing_header')
    const claimed = decodeAny('base64', headers)
    if (claimed === undefined) return refused('malformed_header')
    // Shopify always sends something, and its own library takes nothing for invalid.
    if (request.body.byteLength === 0) return refused('malformed_body')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.body))
    return anyMatch(claimed, expected) ? accepted : refused('no_match')
  },
})
