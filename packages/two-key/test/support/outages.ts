import type { ActiveFault } from '../../src/fake-slack/faults.ts'

/** Every way in which Slack fails, and the code of the decision. */
export const outages: readonly (readonly [string, ActiveFault, RegExp])[] = [
  // Events have more time than one call.
  ['hangs', { kind: 'hang' }, /^(slack_api_error|timeout)$/],
  ['hangs for users', { kind: 'hang', method: 'users.info' }, /^(slack_api_error|timeout)$/],
  ['rate-limits with Retry-After', { kind: 'rate_limit', retryAfter: 30 }, /^rate_limit_exceeded$/],
  ['rate-limits without Retry-After', { kind: 'rate_limit' }, /^rate_limit_exceeded$/],
  [
    'rate-limits repeatedly',
    { kind: 'rate_limit', retryAfter: 1 },
    /^(rate_limit_exceeded|timeout)$/,
  ],
  [
    'responds with 500',
    { kind: 'status', status: 500 },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  [
    'responds with 503 and an HTML page',
    { kind: 'html', status: 503 },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  [
    'responds with 200 and an HTML page',
    { kind: 'html' },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  ['breaks connections', { kind: 'reset' }, /^(slack_api_error|slack_unavailable|timeout)$/],
  [
    'has an internal error',
    { kind: 'error', error: 'internal_error' },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  ['returns an unknown error', { kind: 'error', error: 'brand_new_error' }, /^slack_api_error$/],
  ['has revoked the token', { kind: 'error', error: 'token_revoked' }, /^token_rejected$/],
  ['does not know the token', { kind: 'error', error: 'invalid_auth' }, /^token_rejected$/],
  [
    'reports a missing scope',
    { kind: 'error', error: 'missing_scope', method: 'users.info' },
    /^missing_scope$/,
  ],
]
