import { defineErrors } from '../errors.ts'

/** What is wrong with a request before a service handles it. */
export const requestError = defineErrors('request', {
  invalid: [400, 'The request is not valid: correct the fields named in details'],
  malformed_json: [400, 'The request body is not valid JSON'],
  incomplete: [400, 'The connection closed before the whole request body arrived'],
  not_found: [404, 'There is nothing at this address'],
  method_not_allowed: [405, 'This address does not support this method: see the Allow header'],
  too_large: [413, 'The request body is larger than data.maxBytes'],
  unsupported_media_type: [
    415,
    'The request body has a content type that this address does not accept',
  ],
  rate_limited: [429, 'Too many requests: retry after the time in the Retry-After header'],
  // Not 408: browsers and proxies repeat a request after a 408, even one that writes.
  timeout: [
    503,
    'The request took too long. It may still take effect: check before you repeat it.',
  ],
})

/** What is wrong with the server; the cause is in the log, never in the response. */
export const serverError = defineErrors('server', {
  internal: [500, 'Internal error: report the x-request-id header to the operator of this server'],
  unavailable: [
    503,
    'The server is temporarily unavailable: retry after the time in the Retry-After header',
  ],
  overloaded: [503, 'The server is overloaded: retry after the time in the Retry-After header'],
  body_overloaded: [
    413,
    'The server is receiving too many large request bodies: retry after the time in the Retry-After header',
  ],
  storage_full: [507, 'The storage of the server is full'],
})
