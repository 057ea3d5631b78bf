/**
 * Key two as Bolt middleware: `app.use(existenceCheck())`, before all other middleware. Bolt itself
 * checks the signature.
 *
 * Bolt acknowledges events before any middleware runs, so a rejected event just ends here. All other
 * requests must be acknowledged, or Slack would wait for three seconds.
 */
import { systemClock } from '@strongroom/platform/clock'
import {
  type Accepted,
  type AcceptedChecks,
  type Decision,
  type DecisionLog,
  logDecision,
  needsOperator,
  type Rejected,
  rejectPayload,
} from '../decision.ts'
import { type CheckOptions, createExistenceCheck } from '../existence/check-existence.ts'
import { type CheckerOptions, createExistenceChecker } from '../existence/checker.ts'
import type { JsonObject } from '../payload/ids.ts'
import { type CheckablePayload, parseListenerPayload } from '../payload/parse.ts'
import { createPolicyCheck, type PolicyOptions } from '../policy.ts'
import type { SlackIds } from '../slack-ids.ts'
import { createBoltTokens } from './bolt-tokens.ts'

export interface ExistenceCheckOptions
  extends
    Omit<CheckOptions, 'checker' | 'rejectStatus'>,
    Omit<PolicyOptions, 'rejectStatus'>,
    Omit<CheckerOptions, 'tokenOf' | 'knownStore'> {
  /**
   * The token of a team, to confirm the events that report an uninstall, because Bolt finds none for
   * them. Without this option the token of the team's last verified request is used; if there is none,
   * such an event is rejected.
   */
  tokenOf?: CheckerOptions['tokenOf']
  /**
   * The same value as that of Bolt's receiver; always true on AWS Lambda. Bolt then responds after the
   * check: events get the same two seconds as other requests, and Slack repeats undecidable ones.
   */
  processBeforeResponse?: boolean
  /** Runs before a rejected request is acknowledged, and may acknowledge it with its own response. */
  onRejected?: OnRejected
  onDecision?: (decision: Decision) => void
}

/** What listeners find in `context.twoKey`. */
export interface TwoKeyContext extends AcceptedChecks {
  verified: boolean
  source: Accepted['source']
  ids: SlackIds
}

/** The parts of Bolt that the middleware uses, by shape, so that Bolt is not imported. */
export interface BoltArgs {
  body: object
  context: { botToken?: string | undefined } & JsonObject
  logger: DecisionLog
  next: () => Promise<void>
  /** Undefined if Bolt has acknowledged the request. */
  ack?: ((...response: never[]) => Promise<void>) | undefined
}

export type BoltMiddleware = (args: BoltArgs) => Promise<void>

export type OnRejected = (rejected: Rejected, args: BoltArgs) => void | Promise<void>

/** Slack waits for three seconds; after an acknowledgement there is more time. */
const BUDGET_MS = 2000
const ACKNOWLEDGED_BUDGET_MS = 10_000

/** For `app.error`: an event was not decided, and Slack should send it again. */
export class TwoKeyUndecidable extends Error {
  override readonly name = 'TwoKeyUndecidable'
  readonly code = 'slack_two_key_undecidable'
}

export function existenceCheck(options: ExistenceCheckOptions = {}): BoltMiddleware {
  const { clock = systemClock, onRejected, onDecision, processBeforeResponse = false } = options
  const lastTokens = createBoltTokens()
  const { tokenOf = lastTokens.tokenOf } = options
  const checker = createExistenceChecker({ ...options, tokenOf })
  const checkPolicy = createPolicyCheck(options)
  const checkExistence = createExistenceCheck({
    ...options,
    checker: options.tokenOf ? checker : lastTokens.withUninstallCheck(checker),
  })

  async function decide(
    { body, context }: BoltArgs,
    budgetMs: number,
  ): Promise<Decision<CheckablePayload>> {
    const deadline = clock.now() + budgetMs
    const parsed = parseListenerPayload(body as JsonObject)
    if ('error' in parsed) return rejectPayload(parsed.error, 403)
    const { payload } = parsed
    return checkPolicy(payload) ?? checkExistence(payload, { deadline, token: context.botToken })
  }

  return async (args) => {
    const { context, logger, next } = args
    const isAcknowledged = args.ack === undefined
    const hasMoreTime = isAcknowledged && !processBeforeResponse
    const decision = await decide(args, hasMoreTime ? ACKNOWLEDGED_BUDGET_MS : BUDGET_MS)
    logDecision(logger, decision)
    onDecision?.(decision)
    if (decision.ok) {
      const twoKey = toContext(decision)
      if (twoKey.verified && context.botToken !== undefined) {
        const isOrgWide = context['isEnterpriseInstall'] === true
        lastTokens.remember(twoKey.ids, context.botToken, { isOrgWide })
      }
      Object.assign(context, { twoKey })
      await next()
      return
    }
    if (!isAcknowledged) return acknowledge(decision, args, onRejected)
    await onRejected?.(decision, args)
    if (processBeforeResponse && decision.retryable) {
      throw new TwoKeyUndecidable(
        `Event not verified (${decision.code}). Slack will send it again.`,
      )
    }
  }
}

function toContext(accepted: Accepted<CheckablePayload>): TwoKeyContext {
  const { payload, source, user, channel } = accepted
  const ids = payload.kind === 'uninstall' ? { team: payload.team } : payload.ids
  return { verified: source !== 'skipped', source, ids, user, channel }
}

const ephemeral = (text: string) => ({ response_type: 'ephemeral', text })
const TRY_AGAIN = ephemeral('This request could not be verified. Try again in a moment.')
const ASK_ADMIN = ephemeral(
  'This request could not be verified, because the app’s installation in this workspace needs attention. Ask the person who manages the app.',
)

/**
 * Acknowledges a rejected request, and tells the user of a command whether a retry may help. Bolt allows
 * only one acknowledgement, which may be that of `onRejected`.
 */
async function acknowledge(
  rejected: Rejected,
  args: BoltArgs,
  onRejected: OnRejected | undefined,
): Promise<void> {
  const ack = args.ack as (response?: object) => Promise<void>
  let isDone = false
  const once = async (response?: object) => {
    if (isDone) return
    isDone = true
    await (response === undefined ? ack() : ack(response))
  }
  try {
    await onRejected?.(rejected, { ...args, ack: once })
  } finally {
    const isAnswered = 'command' in args.body && (rejected.retryable || needsOperator(rejected))
    await once(isAnswered ? (needsOperator(rejected) ? ASK_ADMIN : TRY_AGAIN) : undefined)
  }
}
