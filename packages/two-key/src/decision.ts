/** The decision about a request, its codes and statuses, and its log line. */
import type { Log } from '@strongroom/kit/log'
import type { ExistenceResult, RefusalReason, UndecidableReason } from './existence/result.ts'
import type { PayloadErrorCode } from './payload/error.ts'
import type { SlackPayload } from './payload/parse.ts'
import type { SignatureErrorCode } from './signature.ts'

export type Decision<Payload extends SlackPayload = SlackPayload> = Accepted<Payload> | Rejected

/** What an accepted request's user and channel were checked against, so that handlers can require it. */
export interface AcceptedChecks {
  /** `unchecked`: the payload names nobody, or nobody whom Slack can confirm. */
  user: 'verified' | 'unchecked'
  /**
   * `unseen`: Slack does not show the channel to the bot, so it may not exist. `unchecked`: the payload
   * names none, or the policy does not check it.
   */
  channel: 'verified' | 'unseen' | 'unchecked'
}

export const UNCHECKED: AcceptedChecks = { user: 'unchecked', channel: 'unchecked' }

export interface Accepted<Payload extends SlackPayload = SlackPayload> extends AcceptedChecks {
  ok: true
  payload: Payload
  /**
   * What verified it: Slack, the cache, the signature alone if a payload has no ids to check, or
   * `skipped` if `onMissingToken` allows requests without a token.
   */
  source: 'slack' | 'cache' | 'signature' | 'skipped'
}

export interface Rejected {
  ok: false
  stage: 'signature' | 'payload' | 'existence'
  code: RejectionCode
  status: number
  /** Whether Slack may send the request again. */
  retryable: boolean
  retryAfterSeconds?: number
  /** Of `missing_scope`: the scopes that the bot token needs, as Slack names them. */
  missingScopes?: readonly string[]
}

export type RejectionCode =
  | SignatureErrorCode
  | PayloadErrorCode
  | 'body_too_large'
  | 'foreign_response_url'
  | 'foreign_app'
  | (typeof REFUSAL_CODES)[RefusalReason]
  | (typeof UNDECIDABLE_CODES)[UndecidableReason]

const REFUSAL_CODES = {
  team: 'team_not_found',
  user: 'user_not_found',
  bot: 'bot_not_found',
  channel: 'channel_not_found',
  mismatch: 'ids_do_not_fit',
  no_token: 'no_token',
  bad_id: 'bad_id',
  still_installed: 'still_installed',
} as const satisfies Record<RefusalReason, string>

const UNDECIDABLE_CODES = {
  timeout: 'timeout',
  rate_limited: 'rate_limit_exceeded',
  budget: 'miss_budget_exhausted',
  slack_error: 'slack_api_error',
  circuit: 'slack_unavailable',
  credential: 'token_rejected',
  scope: 'missing_scope',
  store: 'store_unavailable',
} as const satisfies Record<UndecidableReason, string>

const undecidableCodes: ReadonlySet<RejectionCode> = new Set(Object.values(UNDECIDABLE_CODES))

/** It may be decided later, also where `onUndecidable` rejects it. */
export function isUndecidable(code: RejectionCode): boolean {
  return undecidableCodes.has(code)
}

/** Retryable: if our secret is outdated, it may be corrected before Slack's next attempt. */
export const rejectSignature = (code: SignatureErrorCode): Rejected => ({
  ok: false,
  stage: 'signature',
  code,
  status: 401,
  retryable: true,
})

export const BODY_TOO_LARGE: Rejected = {
  ok: false,
  stage: 'signature',
  code: 'body_too_large',
  status: 413,
  retryable: false,
}

const UNREADABLE_CODES: ReadonlySet<RejectionCode> = new Set<PayloadErrorCode>([
  'malformed_body',
  'unknown_content_type',
  'unknown_payload',
])

export function rejectPayload(code: RejectionCode, rejectStatus: number): Rejected {
  const status = UNREADABLE_CODES.has(code) ? 400 : rejectStatus
  return { ok: false, stage: 'payload', code, status, retryable: false }
}

export function rejectExistence(
  result: Exclude<ExistenceResult, { ok: true }>,
  options: { rejectStatus: number; onUndecidable: 'retry' | 'reject' },
): Rejected {
  const stage = 'existence'
  const { rejectStatus: status } = options
  if (result.kind === 'refused') {
    return { ok: false, stage, code: REFUSAL_CODES[result.reason], status, retryable: false }
  }
  const code = UNDECIDABLE_CODES[result.reason]
  const { retryAfterSeconds, missingScopes } = result
  const scopes = missingScopes && { missingScopes }
  if (options.onUndecidable === 'reject')
    return { ok: false, stage, code, status, retryable: false, ...scopes }
  return {
    ok: false,
    stage,
    code,
    status: 503,
    retryable: true,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...scopes,
  }
}

/** Kit's log, or any other that takes a message and its fields, such as Bolt's. */
export type DecisionLog = Pick<Log, 'debug' | 'warn' | 'error'>

/** Log lines never contain ids. */
export function logDecision(log: DecisionLog, decision: Decision): void {
  if (!decision.ok) {
    const { stage, code, status, missingScopes } = decision
    const scopes = missingScopes && { missingScopes }
    const fields = { event: logEventOf(decision), stage, code, status, ...scopes }
    if (needsOperator(decision)) log.error(`Slack requests cannot be verified: ${code}`, fields)
    else log.warn(`Slack request rejected: ${code}`, fields)
    return
  }
  const { source, payload, channel } = decision
  if (source === 'skipped') {
    log.warn('Slack request accepted by its signature alone: the team has no token', {
      event: 'existence_check_skipped',
      kind: payload.kind,
    })
    return
  }
  log.debug('Slack request accepted', {
    event: source === 'signature' ? 'signature_verification_success' : 'existence_check_success',
    kind: payload.kind,
    source,
    ...(channel === 'unseen' && { channel }),
  })
}

const OPERATOR_CODES: ReadonlySet<string> = new Set<RejectionCode>([
  'token_rejected',
  'missing_scope',
])

/** Sending the request again cannot help until an operator acts. */
export function needsOperator({ code }: { code: string }): boolean {
  return OPERATOR_CODES.has(code)
}

const EXISTENCE_EVENTS: Partial<Record<RejectionCode, string>> = {
  timeout: 'existence_check_timeout',
  rate_limit_exceeded: 'existence_check_rate_limit',
  slack_api_error: 'existence_check_api_error',
  slack_unavailable: 'existence_check_api_error',
  token_rejected: 'existence_check_api_error',
  missing_scope: 'existence_check_api_error',
}

function logEventOf({ stage, code }: Rejected): string {
  if (stage === 'signature') return 'signature_verification_failed'
  return EXISTENCE_EVENTS[code] ?? 'existence_check_failed'
}
