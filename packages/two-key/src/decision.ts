/** What is decided of a request, and how Slack is told. */
import type { ExistenceVerdict, RefusalReason, UndecidableReason } from './existence/verdict.ts'
import type { PayloadProblem } from './payload/refusal.ts'
import type { SlackPayload } from './payload/payload.ts'
import type { SignatureFailure } from './signature/signature-check.ts'

export type Decision<Payload extends SlackPayload = SlackPayload> = Accepted<Payload> | Rejected

export interface Accepted<Payload extends SlackPayload = SlackPayload> {
  ok: true
  payload: Payload
  /**
   * What vouches for it: Slack, a fresh entry of the cache, the signature alone where a payload has
   * nobody to check, or, where that is configured, nothing for want of a token.
   */
  source: 'slack' | 'cache' | 'signature' | 'skipped'
}

export interface Rejected {
  ok: false
  stage: 'signature' | 'payload' | 'existence'
  code: RejectionCode
  status: number
  /** Whether Slack may send it again; otherwise it is told not to. */
  retryable: boolean
  retryAfterSeconds?: number
}

export type RejectionCode =
  | SignatureFailure
  | PayloadProblem
  | 'body_too_large'
  | 'foreign_response_url'
  | 'foreign_app'
  | (typeof refusalCodes)[RefusalReason]
  | (typeof undecidableCodes)[UndecidableReason]

const refusalCodes = {
  team: 'team_not_found',
  user: 'user_not_found',
  bot: 'bot_not_found',
  channel: 'channel_not_found',
  mismatch: 'ids_do_not_fit',
  no_token: 'no_token',
  bad_id: 'bad_id',
  still_installed: 'still_installed',
} as const satisfies Record<RefusalReason, string>

const undecidableCodes = {
  timeout: 'timeout',
  rate_limited: 'rate_limit_exceeded',
  budget: 'miss_budget_exhausted',
  slack_error: 'slack_api_error',
  circuit: 'slack_unavailable',
  credential: 'token_rejected',
  store: 'store_unavailable',
} as const satisfies Record<UndecidableReason, string>

/** The signature is wrong as far as we know; if our secret is, Slack's next try may come in time. */
export const notSigned = (code: SignatureFailure): Rejected => ({
  ok: false,
  stage: 'signature',
  code,
  status: 401,
  retryable: true,
})

export const tooLarge: Rejected = {
  ok: false,
  stage: 'signature',
  code: 'body_too_large',
  status: 413,
  retryable: false,
}

const UNREADABLE: ReadonlySet<RejectionCode> = new Set<PayloadProblem>([
  'malformed_body',
  'unknown_content_type',
  'unknown_payload',
])

export function notSlacks(code: RejectionCode, rejectStatus: number): Rejected {
  const status = UNREADABLE.has(code) ? 400 : rejectStatus
  return { ok: false, stage: 'payload', code, status, retryable: false }
}

export function notVerified(
  verdict: Exclude<ExistenceVerdict, { ok: true }>,
  options: { rejectStatus: number; onUndecidable: 'retry' | 'reject' },
): Rejected {
  const stage = 'existence'
  const { rejectStatus } = options
  if (verdict.kind === 'refused') {
    const code = refusalCodes[verdict.reason]
    return { ok: false, stage, code, status: rejectStatus, retryable: false }
  }
  const code = undecidableCodes[verdict.reason]
  if (options.onUndecidable === 'reject') {
    return { ok: false, stage, code, status: rejectStatus, retryable: false }
  }
  const { retryAfterSeconds } = verdict
  return {
    ok: false,
    stage,
    code,
    status: 503,
    retryable: true,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}
