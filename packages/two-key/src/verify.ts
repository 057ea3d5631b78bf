/**
 * The two keys in order: the signature over the raw bytes, then what they say, then whether the ids
 * in it exist. Nothing is parsed before the first key has turned.
 */
import { type Clock, systemClock } from '@strongroom/kit/clock'
import { type Log, silentLog } from '@strongroom/kit/log'
import { logDecision } from './decision-log.ts'
import { type Decision, notSigned, notSlacks, tooLarge } from './decision.ts'
import { createJudge, type Judge, type JudgeOptions } from './judge.ts'
import { readBody } from './payload/body.ts'
import { payloadOf, type SlackPayload } from './payload/payload.ts'
import { PayloadRefused } from './payload/refusal.ts'
import { headerOf } from './signature/headers.ts'
import {
  createSignatureCheck,
  type SignatureCheck,
  type SignedRequest,
} from './signature/signature-check.ts'

export interface TwoKeyOptions extends JudgeOptions {
  /** The signing secret of the app; several while one takes over from another. */
  signingSecret: string | readonly string[]
  clock?: Clock
  log?: Log
  /** Is told every decision, for metrics. */
  onDecision?: (decision: Decision) => void
  /** For all calls to Slack together, in milliseconds; Slack wants its answer within 3,000. */
  budgetMs?: number
}

/** Both keys of one app, made ready once. */
export interface TwoKey {
  readonly clock: Clock
  readonly log: Log
  readonly budgetMs: number
  readonly rejectStatus: number
  readonly isSigned: SignatureCheck
  readonly judge: Judge
  /** Logs a decision and tells whoever counts them. */
  readonly report: (decision: Decision) => void
}

const BUDGET_MS = 2000
/** As much as Bolt takes. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Throws where the options would let everybody in, such as an empty secret. */
export function twoKey(options: TwoKeyOptions): TwoKey {
  const { clock = systemClock, budgetMs = BUDGET_MS, log = silentLog, onDecision } = options
  if (!(budgetMs > 0 && budgetMs < 3000)) {
    throw new RangeError('The budget must be more than 0 and less than 3000 milliseconds')
  }
  return {
    clock,
    log,
    budgetMs,
    rejectStatus: options.rejectStatus ?? 403,
    isSigned: createSignatureCheck(options.signingSecret),
    judge: createJudge(options),
    report(decision) {
      logDecision(log, decision)
      onDecision?.(decision)
    },
  }
}

/** Decides of a request in any framework. Never throws for what a request contains. */
export async function verifySlackRequest(request: SignedRequest, keys: TwoKey): Promise<Decision> {
  const decision = await decide(request, keys)
  keys.report(decision)
  return decision
}

async function decide(request: SignedRequest, keys: TwoKey): Promise<Decision> {
  if (request.rawBody.byteLength > MAX_BODY_BYTES) return tooLarge
  const now = keys.clock.now()
  const failure = keys.isSigned(request, now)
  if (failure) return notSigned(failure)
  const payload = read(request)
  if (payload instanceof PayloadRefused) return notSlacks(payload.problem, keys.rejectStatus)
  switch (payload.kind) {
    case 'ssl_check':
    case 'url_verification':
    case 'app_rate_limited':
      return { ok: true, payload, source: 'signature' }
    default:
      return keys.judge(payload, { deadline: now + keys.budgetMs })
  }
}

function read({ rawBody, headers }: SignedRequest): SlackPayload | PayloadRefused {
  try {
    return payloadOf(readBody(rawBody, headerOf(headers, 'content-type')))
  } catch (error) {
    if (error instanceof PayloadRefused) return error
    throw error
  }
}
