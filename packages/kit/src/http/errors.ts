import { defineErrors } from '../errors.ts'

/** What is wrong with a request before any service looks at it. */
export const requestError = defineErrors('request', {
  invalid: [400, 'The request is not valid: correct the fields named in details'],
  malformed_json: [400, 'The request body is not valid JSON'],
  incomplete: [400, 'The connection ended before the whole request body had come'],
  not_found: [404, 'There is nothing at this address'],
  method_not_allowed: [405, 'This address does not accept this method: see the Allow header'],
  too_large: [413, 'The request body is too large: data.maxBytes says how large it may be'],
  unsupported_media_type: [
    415,
    'The request body has a content type that this address does not accept',
  ],
  rate_limited: [429, 'Too many requests: wait as long as the Retry-After header says'],
  // Not 408: browsers and proxies repeat a request that was answered 408, also one that changes things.
  timeout: [
    504,
    'The request was not finished in time: find out whether it took effect before repeating it',
  ],
})

/** What is wrong with the server; the cause is in the log, never in the answer. */
export const serverError = defineErrors('server', {
  internal: [
    500,
    'Something went wrong on the server: report the x-request-id header to its operator',
  ],
  unavailable: [
    503,
    'The server cannot answer right now: try again after the time in the Retry-After header',
  ],
  storage_full: [507, 'The server has no room left to store this'],
})
