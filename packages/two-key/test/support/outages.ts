import type { ActiveFault } from '../../src/fake-slack/faults.ts'

/** Every way in which Slack fails, and the code of the decision. */
export const outages: readonly (readonly [string, ActiveFault, RegExp])[] = [
  ['hangs', { kind: 'hang' }, /^timeout$/],
  ['hangs for users', { kind: 'hang', method: 'users.info' }, /^timeout$/],
  [
    'limits us and says for how long',
    { kind: 'rate_limit', retryAfter: 30 },
    /^rate_limit_exceeded$/,
  ],
  ['limits us and does not say for how long', { kind: 'rate_limit' }, /^rate_limit_exceeded$/],
  [
    'limits us again and again',
    { kind: 'rate_limit', retryAfter: 1 },
    /^(rate_limit_exceeded|timeout)$/,
  ],
  ['answers 500', { kind: 'status', status: 500 }, /^(slack_api_error|slack_unavailable|timeout)$/],
  [
    'answers 503 with a page',
    { kind: 'html', status: 503 },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  ['answers 200 with a page', { kind: 'html' }, /^(slack_api_error|slack_unavailable|timeout)$/],
  ['breaks connections', { kind: 'reset' }, /^(slack_api_error|slack_unavailable|timeout)$/],
  [
    'has an internal error',
    { kind: 'error', error: 'internal_error' },
    /^(slack_api_error|slack_unavailable|timeout)$/,
  ],
  ['says what nobody knows', { kind: 'error', error: 'brand_new_error' }, /^slack_api_error$/],
  ['has revoked the token', { kind: 'error', error: 'token_revoked' }, /^token_rejected$/],
  ['has never heard of the token', { kind: 'error', error: 'invalid_auth' }, /^token_rejected$/],
  [
    'misses a scope',
    { kind: 'error', error: 'missing_scope', method: 'users.info' },
    /^token_rejected$/,
  ],
]
