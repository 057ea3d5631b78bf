/** What limits are counted by, and what is remembered of domains and of abuse. */
import type { PatternRow } from './row.ts'

export const patternsOfLimits: readonly PatternRow[] = [
  ['Check rate limits for site', 'store/rates.ts: limiter', 'PK = RATE#{scope}#{id}, SK = WINDOW'],
  [
    'Count requests for analysis',
    'store/rates.ts: count',
    'PK = RATE#{scope}#{id}, SK = TIME#{window}#{start}',
  ],
  [
    'Time-based rate limit analysis',
    'store/rates.ts: analyse',
    'PK = RATE#{scope}#{id}, SK BETWEEN TIME#{window}#{start} AND TIME#{window}#{end}',
  ],
  [
    'Set limits for one caller',
    'store/rates.ts: setOverride',
    'PK = RATE#{scope}#{id}, SK = OVERRIDE',
  ],
  ['Get limits of one caller', 'store/rates.ts: override', 'PK = RATE#{scope}#{id}, SK = OVERRIDE'],
  [
    'Remove limits of one caller',
    'store/rates.ts: removeOverride',
    'PK = RATE#{scope}#{id}, SK = OVERRIDE',
  ],
  [
    'List callers with limits of their own',
    'store/rates.ts: listOverrides',
    'GSI2PK = RATE_OVERRIDES',
    'GSI2',
  ],
  ['Remember a validation', 'store/validations.ts: put', 'PK = VALIDATION#{domain}, SK = RESULT'],
  [
    'Get validation for domain',
    'store/validations.ts: get',
    'PK = VALIDATION#{domain}, SK = RESULT',
  ],
  [
    'Find validation by registration',
    'store/validations.ts: findByRegistration',
    'GSI1PK = REG#{registration_id}, GSI1SK = VALIDATION',
    'GSI1',
  ],
  [
    'Record a security event',
    'store/security-events.ts: record',
    'PK = FAILED#{site_id}, SK = TIME#{timestamp}#{ulid}',
  ],
  [
    'Get failed attempts for site',
    'store/security-events.ts: of',
    'PK = FAILED#{site_id}, SK BETWEEN TIME#{from} AND TIME#{to}',
  ],
  [
    'Analyze security events by type and time',
    'store/security-events.ts: ofType',
    'GSI1PK = SECURITY#{event_type}#{date}#{shard}, GSI1SK BETWEEN TIME#{from} AND TIME#{to}',
    'GSI1',
  ],
  [
    'Record an abuse pattern',
    'store/abuse-patterns.ts: record',
    'PK = ABUSE#{pattern_type}, SK = {identifier}#{detected_at}#{ulid}',
  ],
  [
    'Forget a pattern of an identifier',
    'store/abuse-patterns.ts: clear',
    'PK = ABUSE#{pattern_type}, SK begins_with {identifier}#',
  ],
  [
    'Get a pattern of an identifier',
    'store/abuse-patterns.ts: of',
    'PK = ABUSE#{pattern_type}, SK begins_with {identifier}#',
  ],
  [
    'Track all patterns of an identifier',
    'store/abuse-patterns.ts: ofIdentifier',
    'GSI1PK = ABUSE_TRACKING#{identifier}, GSI1SK begins_with TIME#',
    'GSI1',
  ],
  [
    'List abuse patterns by type',
    'store/abuse-patterns.ts: ofType',
    'GSI2PK = ABUSE#{pattern_type}',
    'GSI2',
  ],
]
