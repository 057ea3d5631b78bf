/** The four steps of a decision: signature, payload, policy, existence. */
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { type Log, silentLog } from '@strongroom/kit/log'
import {
  BODY_TOO_LARGE,
  type Decision,
  logDecision,
  rejectPayload,
  rejectSignature,
  UNCHECKED,
} from './decision.ts'
import {
  type CheckExistence,
  type CheckOptions,
  createExistenceCheck,
} from './existence/check-existence.ts'
import { isCheckable, parsePayload, type SlackPayload } from './payload/parse.ts'
import { type CheckPolicy, createPolicyCheck, type PolicyOptions } from './policy.ts'
import { createSignatureVerifier, type HeaderSource, type SignatureVerifier } from './signature.ts'

export interface TwoKeyOptions extends CheckOptions, PolicyOptions {
  /** The app's signing secret; several during a rotation. */
  signingSecret: string | readonly string[]
  clock?: Clock
  log?: Log
  /** Receives every decision, for metrics, and its payload if that could be read. */
  onDecision?: (decision: Decision, details: DecisionDetails) => void
  /** For all calls to Slack together, in milliseconds; Slack expects a response within 3,000. */
  budgetMs?: number
}

export interface DecisionDetails {
  /** Undefined if the signature or the body is invalid. */
  payload: SlackPayload | undefined
  durationMs: number
}

export interface SlackRequest {
  /** The bytes of the body as they were sent; undefined if they are too many to be read. */
  rawBody: Uint8Array | undefined
  headers: HeaderSource
}

/** Both keys of one app. */
export interface TwoKey {
  /** A deadline, in milliseconds of the clock, shortens the budget. */
  verify(request: SlackRequest, options?: { deadline?: number }): Promise<Decision>
  readonly log: Log
}

const BUDGET_MS = 2000
/** The same limit as Bolt's. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Throws if the options would accept every request, such as with an empty secret. */
export function twoKey(options: TwoKeyOptions): TwoKey {
  const { clock = systemClock, budgetMs = BUDGET_MS, log = silentLog, onDecision } = options
  if (!(budgetMs > 0 && budgetMs < 3000)) {
    throw new RangeError('budgetMs must be greater than 0 and less than 3000.')
  }
  const steps: Steps = {
    clock,
    budgetMs,
    rejectStatus: options.rejectStatus ?? 403,
    verifySignature: createSignatureVerifier(options.signingSecret),
    checkPolicy: createPolicyCheck(options),
    checkExistence: createExistenceCheck(options),
  }
  return {
    log,

    async verify(request, { deadline } = {}) {
      const startedAt = clock.now()
      const { decision, payload } = await decide(request, steps, deadline)
      logDecision(log, decision)
      onDecision?.(decision, { payload, durationMs: clock.now() - startedAt })
      return decision
    },
  }
}

/** Decides about a request, in any framework. Never throws because of what a request contains. */
export async function verifySlackRequest(request: SlackRequest, keys: TwoKey): Promise<Decision> {
  return keys.verify(request)
}

interface Steps {
  clock: Clock
  budgetMs: number
  rejectStatus: number
  verifySignature: SignatureVerifier
  checkPolicy: CheckPolicy
  checkExistence: CheckExistence
}

/** The four steps in order. The first rejection is the decision. */
async function decide(
  { rawBody, headers }: SlackRequest,
  app: Steps,
  latest: number = Infinity,
): Promise<{ decision: Decision; payload?: SlackPayload }> {
  if (!rawBody || rawBody.byteLength > MAX_BODY_BYTES) return { decision: BODY_TOO_LARGE }
  const request = { rawBody, headers }
  const now = app.clock.now()

  const signatureError = app.verifySignature(request, now)
  if (signatureError) return { decision: rejectSignature(signatureError) }

  const parsed = parsePayload(request)
  if ('error' in parsed) return { decision: rejectPayload(parsed.error, app.rejectStatus) }
  const { payload } = parsed
  if (!isCheckable(payload)) {
    return { payload, decision: { ok: true, payload, source: 'signature', ...UNCHECKED } }
  }
  const rejected = app.checkPolicy(payload)
  if (rejected) return { payload, decision: rejected }
  const deadline = Math.min(now + app.budgetMs, latest)
  return { payload, decision: await app.checkExistence(payload, { deadline }) }
}
