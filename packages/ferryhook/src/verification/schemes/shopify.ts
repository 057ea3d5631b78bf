/** Shopify: base64 over the body, in a header that newer kinds of events name without `X-`. */
import * as z from 'zod'
import { hasMatch, decodeAny, hmac } from '../crypto.ts'
import { valid, defineScheme, invalid } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'

export const shopify = defineScheme({
  schema: z.strictObject({ algorithm: z.literal('shopify') }),

  verify({ request, secrets }) {
    const headers = ['x-shopify-hmac-sha256', 'shopify-hmac-sha256']
      .map((name) => headerOf(request, name))
      .filter((header) => header !== undefined)
    if (headers.length === 0) return invalid('missing_header')
    const claimed = decodeAny('base64', headers)
    if (claimed === undefined) return invalid('malformed_header')
    // Shopify never sends an empty body, and its own library rejects one.
    if (request.body.byteLength === 0) return invalid('malformed_body')
    const expected = secrets.map((secret) => hmac('sha256', secret, request.body))
    return hasMatch(claimed, expected) ? valid : invalid('no_match')
  },
})
