/** Decides of a payload that was read: whose it is, where its answers go, and whether its ids exist. */
import { type Accepted, type Decision, notSlacks, notVerified } from './decision.ts'
import type { ChannelPolicy, ExistenceChecker, ExistenceVerdict } from './existence/verdict.ts'
import { isOfApp } from './hardening/app-id.ts'
import { createResponseUrlCheck } from './hardening/response-url.ts'
import type { CheckedPayload, RequestKind, UninstallPayload } from './payload/payload.ts'

export interface JudgeOptions {
  checker: ExistenceChecker
  /** The app's id (A…): requests that name another are refused. */
  appId?: string
  /** What an unknown channel means, for each kind of request; other kinds keep the defaults. */
  channelPolicy?: Partial<Record<RequestKind, ChannelPolicy>>
  /** Hosts beside hooks.slack.com that answers may be posted to. */
  responseHosts?: readonly string[]
  /** When Slack cannot be asked: `retry` answers 503, so that it sends again; `reject` refuses. */
  onUndecidable?: 'retry' | 'reject'
  /** When a team has no token: `skip` lets its requests pass with key one alone. */
  onMissingToken?: 'deny' | 'skip'
  /** Of a definitive no; 200 where failed deliveries would make Slack disable the app's events. */
  rejectStatus?: 403 | 200
}

type Listened = CheckedPayload | UninstallPayload

export interface JudgeLimits {
  /** In milliseconds of the clock. */
  deadline: number
  token?: string | undefined
}

export type Judge = (payload: Listened, limits: JudgeLimits) => Promise<Decision<Listened>>

/**
 * Events come only from conversations that the bot sees; people use commands, shortcuts and
 * buttons in those that it does not see too.
 */
const channelPolicies: Readonly<Record<RequestKind, ChannelPolicy>> = {
  event: 'strict',
  command: 'if-visible',
  action: 'if-visible',
  options: 'if-visible',
  shortcut: 'if-visible',
  view: 'if-visible',
}

export function createJudge(options: JudgeOptions): Judge {
  const { checker, appId, onMissingToken = 'deny', onUndecidable = 'retry' } = options
  const { rejectStatus = 403 } = options
  const policies = { ...channelPolicies, ...options.channelPolicy }
  const answersAtSlack = createResponseUrlCheck(options.responseHosts)

  async function ask(payload: Listened, limits: JudgeLimits): Promise<ExistenceVerdict> {
    const { deadline, token } = limits
    const asking = { deadline, ...(token === undefined ? {} : { token }) }
    if (payload.kind === 'uninstall') return checker.checkUninstalled(payload, asking)
    const policy = policies[payload.kind]
    const channelPolicy = payload.channelMayBeGone && policy === 'strict' ? 'if-visible' : policy
    return checker.check(payload.ids, { ...asking, channelPolicy })
  }

  return async (payload, limits) => {
    if (appId !== undefined && !isOfApp(payload, appId)) {
      return notSlacks('foreign_app', rejectStatus)
    }
    if (!answersAtSlack(payload.body)) return notSlacks('foreign_response_url', rejectStatus)
    const verdict = await ask(payload, limits)
    if (verdict.ok) return { ok: true, payload, source: verdict.source }
    if (onMissingToken === 'skip' && verdict.kind === 'refused' && verdict.reason === 'no_token') {
      return { ok: true, payload, source: 'skipped' } satisfies Accepted
    }
    return notVerified(verdict, { rejectStatus, onUndecidable })
  }
}
