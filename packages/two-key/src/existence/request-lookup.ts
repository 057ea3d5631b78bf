/** Looks up all ids of a request in parallel, after the token has proved which team it belongs to. */
import { createHash } from 'node:crypto'
import type { Deadline } from '@strongroom/kit/deadline'
import { LRUCache } from 'lru-cache'
import type { StartDeadline } from '../deadlines.ts'
import type { SlackIds } from '../slack-ids.ts'
import type { RequestResults } from './evaluation.ts'
import type { KnownIds } from './known-ids.ts'
import type { ChannelPolicy } from './result.ts'
import type { EntityRef, EntityResult, EntityLookup } from './entity-lookup.ts'
import type { EntityKind } from './slack-responses.ts'

export interface RequestLookupOptions {
  deadline: Deadline
  channelPolicy: ChannelPolicy
  /** The triple is in the cache, so neither its user nor its channel is looked up. */
  isTripleVerified?: boolean
  /** Entities that were verified before this time are looked up again. */
  verifiedSince?: number
}

export interface RequestLookup {
  lookupIds(ids: SlackIds, token: string, options: RequestLookupOptions): Promise<RequestResults>
  /** Whether an id is cached as absent, so that the table need not be read. */
  isKnownAbsent(ids: SlackIds, token: string, channelPolicy: ChannelPolicy): boolean
  /** Checks with Slack whether a token works. Uses the shared budget, because any request can trigger it. */
  probeToken(token: string, deadline: Deadline): Promise<EntityResult>
}

/** Known ids only decide which half of the budget is used, so Slack keeps half of the time. */
const KNOWN_IDS_TIMEOUT_MS = 1000
const MAX_TOKENS = 10_000

export function createRequestLookup(deps: {
  lookup: EntityLookup
  known: KnownIds
  startDeadline: StartDeadline
}): RequestLookup {
  const { lookup, known, startDeadline } = deps
  /** Cached, because the digest of a token costs more than the rest of a cached decision. */
  const tokenRefs = new LRUCache<string, EntityRef>({ max: MAX_TOKENS })

  /**
   * The owner of a token does not depend on the team that a request names: where one token serves all
   * requests, invented teams cost neither calls nor memory.
   */
  function tokenRef(token: string): EntityRef {
    let found = tokenRefs.get(token)
    if (!found) {
      const id = createHash('sha256').update(token).digest('base64url')
      found = { team: id, kind: 'token', id, token }
      tokenRefs.set(token, found)
    }
    return found
  }

  function getFresh(
    ref: EntityRef,
    { verifiedSince = -Infinity }: RequestLookupOptions,
  ): EntityResult | undefined {
    const cached = lookup.getCached(ref)
    return cached?.state === 'exists' && cached.verifiedAt < verifiedSince ? undefined : cached
  }

  async function lookupEntity(
    ref: EntityRef,
    options: RequestLookupOptions,
  ): Promise<EntityResult> {
    const cached = getFresh(ref, options)
    if (cached) return cached
    const name = knownName(ref)
    const isKnown = known.has(ref.team, name)
    const result = await lookup.lookUp(ref, { deadline: options.deadline, isKnown })
    if (result.state === 'exists' && result.fromSlack) known.add(ref.team, name)
    return result
  }

  /** A token of another team proves nothing about this one. */
  async function lookupToken(
    { team, enterprise }: SlackIds,
    token: string,
    options: RequestLookupOptions,
  ): Promise<EntityResult> {
    const ref = tokenRef(token)
    const { deadline } = options
    const result = getFresh(ref, options) ?? (await lookup.lookUp(ref, { deadline, isKnown: true }))
    if (result.state !== 'exists') return result
    const { facts } = result
    const isOrgWide = facts.isOrgWide === true && facts.enterprise !== undefined
    const isOfEnterprise = enterprise === undefined || facts.enterprise === enterprise
    return (facts.team === team || isOrgWide) && isOfEnterprise ? result : { state: 'absent' }
  }

  async function waitForKnownIds(team: string, deadline: Deadline): Promise<void> {
    const loading = known.load(team)
    if (!loading) return
    const limit = startDeadline({ ms: Math.min(KNOWN_IDS_TIMEOUT_MS, deadline.remainingMs()) })
    await limit.settle(loading)
    limit.stop()
  }

  return {
    async lookupIds(ids, token, options) {
      const { team, user, bot, channel, otherTeams = [] } = ids
      const owner = await lookupToken(ids, token, options)
      if (owner.state !== 'exists') return { token: owner, teams: [] }
      const { enterprise, isOrgWide } = owner.facts
      const workspace = isOrgWide === true && enterprise !== team ? team : undefined
      // One budget for the organisation: a request may name any of its workspaces.
      const budgetTeam = workspace === undefined ? team : (enterprise ?? team)
      await waitForKnownIds(budgetTeam, options.deadline)
      const lookUp = async (kind: EntityKind, id: string) =>
        lookupEntity({ team: budgetTeam, kind, id, token, workspace }, options)
      const lookUpIf = async (isWanted: boolean, kind: EntityKind, id: string | undefined) =>
        isWanted && id !== undefined ? lookUp(kind, id) : undefined
      const isTripleVerified = options.isTripleVerified === true
      const hasChannel = !isTripleVerified && options.channelPolicy !== 'skip'
      const [ownTeam, others, foundUser, foundBot, foundChannel] = await Promise.all([
        workspace === undefined ? undefined : lookUp('team', workspace).then(within(enterprise)),
        Promise.all(
          otherTeams.filter((each) => each !== team).map(async (each) => lookUp('team', each)),
        ),
        lookUpIf(!isTripleVerified, 'user', user),
        // The triple of a request with a user and a bot is that of the user.
        lookUpIf(!isTripleVerified || user !== undefined, 'bot', bot),
        lookUpIf(hasChannel, 'channel', channel),
      ])
      return {
        token: owner,
        teams: ownTeam ? [ownTeam, ...others] : others,
        user: foundUser,
        bot: foundBot,
        channel: foundChannel,
      }
    },

    isKnownAbsent({ team, user, channel }, token, channelPolicy) {
      const isAbsent = (kind: EntityKind, id: string | undefined) =>
        id !== undefined && lookup.getCached({ team, kind, id, token })?.state === 'absent'
      return isAbsent('user', user) || (channelPolicy === 'strict' && isAbsent('channel', channel))
    },

    probeToken: async (token, deadline) =>
      lookup.lookUp(tokenRef(token), { deadline, isKnown: false }),
  }
}

/** A workspace must belong to the organisation whose token is used. */
function within(enterprise: string | undefined) {
  return (result: EntityResult): EntityResult =>
    result.state === 'exists' && result.facts.enterprise !== enterprise
      ? { state: 'absent' }
      : result
}

/** An id that is known as one kind of entity, or in one workspace, is not known as another. */
function knownName({ kind, id, workspace }: EntityRef): string {
  return workspace === undefined ? `${kind}:${id}` : `${kind}:${workspace}/${id}`
}

/** The names of a triple's ids among the known ids. */
export function knownNamesOf({ user, bot, channel }: SlackIds): string[] {
  const parts = { user, bot, channel }
  return Object.entries(parts).flatMap(([kind, id]) => (id === undefined ? [] : [`${kind}:${id}`]))
}
