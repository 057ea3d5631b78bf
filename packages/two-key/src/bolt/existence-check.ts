/**
 * Key two as middleware of Bolt: `app.use(existenceCheck())`, first of all. Key one is Bolt's own.
 *
 * Bolt acknowledges events before any middleware runs, so a refused one just ends here. Of everything
 * else it waits for an acknowledgement: without one the request would stall for three seconds.
 */
import { systemClock } from '@strongroom/kit/clock'
import { logDecision } from '../decision-log.ts'
import { type Accepted, type Decision, notSlacks } from '../decision.ts'
import { type CheckerOptions, createExistenceChecker } from '../existence/checker.ts'
import type { SlackIds } from '../existence/verdict.ts'
import { createJudge, type JudgeOptions } from '../judge.ts'
import type { JsonObject } from '../payload/json.ts'
import { type CheckedPayload, listenedPayload, type UninstallPayload } from '../payload/payload.ts'
import { PayloadRefused } from '../payload/refusal.ts'
import { acknowledge } from './acknowledge.ts'
import type { BoltMiddleware, OnRejected } from './bolt-types.ts'
import { createLastTokens } from './last-tokens.ts'

export interface ExistenceCheckOptions
  extends
    Omit<JudgeOptions, 'checker' | 'rejectStatus'>,
    Omit<CheckerOptions, 'tokenOf' | 'knownStore'> {
  /**
   * The token of a team, for the events with which an app learns that it was uninstalled: Bolt
   * finds none for them. Unless told, the one that the team's last verified request came with; if
   * there was none yet, such an event is not believed.
   */
  tokenOf?: CheckerOptions['tokenOf']
  /**
   * As it is told to Bolt's receiver; on AWS Lambda it always is so. Then Bolt answers after the
   * check: events get the budget of everything else, and Slack sends an undecidable one again.
   */
  processBeforeResponse?: boolean
  /** Is told what was rejected before it is acknowledged, and may acknowledge it in other words. */
  onRejected?: OnRejected
  onDecision?: (decision: Decision) => void
}

/** What listeners find in `context.twoKey`. */
export interface TwoKeyContext {
  verified: boolean
  source: Accepted['source']
  ids: SlackIds
}

/** Slack waits for three seconds; after an acknowledgement there is more time. */
const BUDGET_MS = 2000
const ACKNOWLEDGED_BUDGET_MS = 10_000

/** Why a request without an acknowledgement was not decided; for `app.error`. */
export class TwoKeyUndecidable extends Error {
  override readonly name = 'TwoKeyUndecidable'
  readonly code = 'slack_two_key_undecidable'
}

export function existenceCheck(options: ExistenceCheckOptions = {}): BoltMiddleware {
  const { clock = systemClock, onRejected, onDecision, processBeforeResponse = false } = options
  const lastTokens = createLastTokens()
  const { tokenOf = lastTokens.tokenOf } = options
  const checker = createExistenceChecker({ ...options, tokenOf })
  const judge = createJudge({
    ...options,
    checker: options.tokenOf ? checker : lastTokens.guarding(checker),
  })

  return async (args) => {
    const { context, logger, next } = args
    const isAcknowledged = args.ack === undefined
    const hasTime = isAcknowledged && !processBeforeResponse
    const deadline = clock.now() + (hasTime ? ACKNOWLEDGED_BUDGET_MS : BUDGET_MS)
    const payload = read(args.body as JsonObject)
    const decision =
      payload instanceof PayloadRefused
        ? notSlacks(payload.problem, 403)
        : await judge(payload, { deadline, token: context.botToken })
    logDecision(logger, decision)
    onDecision?.(decision)
    if (decision.ok) {
      const twoKey = contextOf(decision)
      if (twoKey.verified && context.botToken !== undefined) {
        const isOrgWide = context['isEnterpriseInstall'] === true
        lastTokens.remember(twoKey.ids, context.botToken, { isOrgWide })
      }
      Object.assign(context, { twoKey })
      await next()
      return
    }
    if (isAcknowledged) {
      await onRejected?.(decision, args)
      if (processBeforeResponse && decision.retryable) {
        throw new TwoKeyUndecidable(`Slack is to send the event again: ${decision.code}`)
      }
      return
    }
    await acknowledge(decision, args, onRejected)
  }
}

function read(body: JsonObject): CheckedPayload | UninstallPayload | PayloadRefused {
  try {
    return listenedPayload(body)
  } catch (error) {
    if (error instanceof PayloadRefused) return error
    throw error
  }
}

function contextOf({
  payload,
  source,
}: Accepted<CheckedPayload | UninstallPayload>): TwoKeyContext {
  const ids = payload.kind === 'uninstall' ? { team: payload.team } : payload.ids
  return { verified: source !== 'skipped', source, ids }
}
