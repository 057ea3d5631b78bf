/** Step four: passes the ids of a payload to the checker and turns its result into the decision. */
import { type AcceptedChecks, type Decision, rejectExistence, UNCHECKED } from '../decision.ts'
import type { CheckablePayload, CheckedPayload, RequestKind } from '../payload/parse.ts'
import type { ChannelPolicy, ExistenceChecker, ExistenceResult } from './result.ts'

export interface CheckOptions {
  checker: ExistenceChecker
  /** What an unknown channel means, by kind of request; other kinds keep the defaults. */
  channelPolicy?: Partial<Record<RequestKind, ChannelPolicy>>
  /** When Slack cannot decide: `retry` responds 503, so that Slack sends again; `reject` rejects. */
  onUndecidable?: 'retry' | 'reject'
  /** When a team has no token: `skip` accepts its requests by their signature alone. */
  onMissingToken?: 'deny' | 'skip'
  /** The status of a definite rejection; 200 keeps Slack from disabling the app's events. */
  rejectStatus?: 403 | 200
}

export interface CheckLimits {
  /** In milliseconds of the clock. */
  deadline: number
  token?: string | undefined
}

export type CheckExistence = (
  payload: CheckablePayload,
  limits: CheckLimits,
) => Promise<Decision<CheckablePayload>>

/**
 * Most events come only from conversations that the bot can see (`event-types.ts` has the others);
 * commands, shortcuts and buttons are also used elsewhere.
 */
const CHANNEL_POLICIES: Readonly<Record<RequestKind, ChannelPolicy>> = {
  event: 'strict',
  command: 'if-visible',
  action: 'if-visible',
  options: 'if-visible',
  shortcut: 'if-visible',
  view: 'if-visible',
}

export function createExistenceCheck(options: CheckOptions): CheckExistence {
  const { checker, onMissingToken = 'deny', onUndecidable = 'retry', rejectStatus = 403 } = options
  const policies = { ...CHANNEL_POLICIES, ...options.channelPolicy }

  function policyOf({ kind, channelMayBeUnseen }: CheckedPayload): ChannelPolicy {
    const policy = policies[kind]
    return channelMayBeUnseen && policy === 'strict' ? 'if-visible' : policy
  }

  /** What the result proves about the payload, and no more. */
  function checksOf(payload: CheckablePayload, isUnseen: boolean): AcceptedChecks {
    if (payload.kind === 'uninstall') return UNCHECKED
    const { user, bot, channel } = payload.ids
    const hasChannel = channel !== undefined && policyOf(payload) !== 'skip'
    return {
      user: user === undefined && bot === undefined ? 'unchecked' : 'verified',
      channel: hasChannel ? (isUnseen ? 'unseen' : 'verified') : 'unchecked',
    }
  }

  async function check(payload: CheckablePayload, limits: CheckLimits): Promise<ExistenceResult> {
    const { deadline, token } = limits
    const checkOptions = { deadline, ...(token === undefined ? {} : { token }) }
    if (payload.kind === 'uninstall') return checker.checkUninstalled(payload, checkOptions)
    return checker.check(payload.ids, { ...checkOptions, channelPolicy: policyOf(payload) })
  }

  return async (payload, limits) => {
    const result = await check(payload, limits)
    if (result.ok) {
      const checks = checksOf(payload, result.channelUnseen === true)
      return { ok: true, payload, source: result.source, ...checks }
    }
    const isTokenMissing = result.kind === 'refused' && result.reason === 'no_token'
    if (isTokenMissing && onMissingToken === 'skip')
      return { ok: true, payload, source: 'skipped', ...UNCHECKED }
    return rejectExistence(result, { rejectStatus, onUndecidable })
  }
}
