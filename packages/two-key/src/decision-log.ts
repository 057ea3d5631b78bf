/** Decisions as lines of the log: what was decided and why, and never an id. */
import type { Log } from '@strongroom/kit/log'
import type { Decision, Rejected, RejectionCode } from './decision.ts'

/** The log of the kit, or any other that takes a message and its fields, as Bolt's does. */
export type DecisionLog = Pick<Log, 'debug' | 'warn' | 'error'>

export function logDecision(log: DecisionLog, decision: Decision): void {
  if (!decision.ok) {
    const { stage, code, status } = decision
    const line = { event: eventOf(decision), stage, code, status }
    // Nothing passes until somebody acts on it.
    if (needsOperator.has(code)) log.error(`Cannot verify requests of Slack: ${code}`, line)
    else log.warn(`Rejected a request of Slack: ${code}`, line)
    return
  }
  const { source, payload } = decision
  if (source === 'skipped') {
    log.warn('Accepted a request of Slack by its signature alone: the team has no token', {
      event: 'existence_check_skipped',
      kind: payload.kind,
    })
    return
  }
  log.debug('Accepted a request of Slack', {
    event: source === 'signature' ? 'signature_verification_success' : 'existence_check_success',
    kind: payload.kind,
    source,
  })
}

const needsOperator: ReadonlySet<RejectionCode> = new Set<RejectionCode>(['token_rejected'])

const existenceEvents: Partial<Record<RejectionCode, string>> = {
  timeout: 'existence_check_timeout',
  rate_limit_exceeded: 'existence_check_rate_limit',
  slack_api_error: 'existence_check_api_error',
  slack_unavailable: 'existence_check_api_error',
  token_rejected: 'existence_check_api_error',
}

function eventOf({ stage, code }: Rejected): string {
  if (stage === 'signature') return 'signature_verification_failed'
  return existenceEvents[code] ?? 'existence_check_failed'
}
