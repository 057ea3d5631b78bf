/** Finds out about all parts of a request at once, and remembers what holds. */
import { createHash } from 'node:crypto'
import type { Clock } from '@strongroom/kit/clock'
import { CACHE_SECONDS } from '../table.ts'
import type { Deadlines } from './deadlines.ts'
import { type Decision, decide, type Findings } from './decision.ts'
import type { EntityKind } from './entities.ts'
import { keep } from './knowledge.ts'
import type { KnownIds } from './known-ids.ts'
import type { Finding, Lookups, Question } from './lookups.ts'
import { tripleOf } from './triple.ts'
import type { ExistenceOptions, ExistenceVerdict, SlackIds } from './verdict.ts'
import type { VerifiedTriples } from './verified-triples.ts'

interface Asked extends Pick<ExistenceOptions, 'deadline' | 'channelPolicy'> {
  /** Of the triples, when the token was asked for. */
  era: number
}

export interface Inquiry {
  /** Resolves before the deadline, or a moment after. `saved` is a write that goes on. */
  decide(
    ids: SlackIds,
    token: string,
    asked: Asked,
  ): Promise<{ verdict: ExistenceVerdict; saved?: Promise<void> | undefined }>
  /** Verifies a triple that is still believed again, and drops it if it does not hold any more. */
  renew(ids: SlackIds, token: string, asked: Asked): Promise<void>
  /** Asks Slack whether a token works, whatever is known of it, as one of many who may ask that. */
  probe(token: string, deadline: number): Promise<Finding>
}

/** Who is known says only from which half of the budget he is asked for: Slack gets the other half. */
const KNOWN_MS = 1000

/** What is older than this part of its life is asked again when its triple is renewed. */
const RENEWED_FROM = 0.5

interface Course extends Asked {
  /** What was verified before is asked again. */
  verifiedSince?: number
  /** The triple is in the cache: neither user nor channel has to be asked for. */
  hasTriple?: boolean
}

export function createInquiry(deps: {
  clock: Clock
  lookups: Lookups
  known: KnownIds
  triples: VerifiedTriples
  within: Deadlines['within']
}): Inquiry {
  const { clock, lookups, known, triples, within } = deps
  /** The digest of a token costs more than all else of a decision that asks nobody. */
  const bindings = new Map<string, Question>()

  /**
   * Whose a token is does not depend on the team that a request names: where one token serves every
   * request, invented teams cost neither calls nor memory.
   */
  function bindingOf(token: string): Question {
    let binding = bindings.get(token)
    if (!binding) {
      const id = createHash('sha256').update(token).digest('base64url')
      binding = { team: id, kind: 'binding', id, token }
      keep(bindings, token, binding)
    }
    return binding
  }

  function fresh(question: Question, { verifiedSince = -Infinity }: Course): Finding | undefined {
    const before = lookups.known(question)
    return before?.state === 'exists' && before.verifiedAt < verifiedSince ? undefined : before
  }

  async function find(question: Question, course: Course): Promise<Finding> {
    const before = fresh(question, course)
    if (before) return before
    const name = nameOf(question)
    const isKnown = known.has(question.team, name)
    const finding = await lookups.ask(question, { until: course.deadline, isKnown })
    if (finding.state === 'exists' && finding.fromSlack) known.add(question.team, name)
    return finding
  }

  /** A token first has to prove whose it is: what another team's token says is worth nothing. */
  async function bind(ids: SlackIds, token: string, course: Course): Promise<Finding> {
    const { team } = ids
    const question = bindingOf(token)
    const asked = { until: course.deadline, isKnown: true }
    const binding = fresh(question, course) ?? (await lookups.ask(question, asked))
    if (binding.state !== 'exists') return binding
    const { facts } = binding
    const isOwn = facts.team === team || (facts.isOrgWide === true && facts.enterprise === team)
    const isOfOrganisation = facts.isOrgWide === true && facts.enterprise !== undefined
    const namesOther = ids.enterprise !== undefined && facts.enterprise !== ids.enterprise
    return (isOwn || isOfOrganisation) && !namesOther ? binding : { state: 'absent' }
  }

  async function findAll(ids: SlackIds, token: string, course: Course): Promise<Findings> {
    const { team, user, bot, channel, otherTeams = [] } = ids
    const binding = await bind(ids, token, course)
    if (binding.state !== 'exists') return { binding, teams: [] }
    const { facts } = binding
    const workspace = facts.isOrgWide === true && facts.enterprise !== team ? team : undefined
    // Whoever may name any workspace of an organisation must not get a budget for each.
    const owner = workspace === undefined ? team : (facts.enterprise ?? team)
    const loading = known.loading(owner)
    if (loading) await within(Math.min(course.deadline, clock.now() + KNOWN_MS), loading)
    const ask = async (kind: EntityKind, id: string) =>
      find({ team: owner, kind, id, token, workspace }, course)
    const askPart = async (kind: 'user' | 'bot' | 'channel', id: string | undefined) =>
      id === undefined ? undefined : ask(kind, id)
    const hasTriple = course.hasTriple === true
    const [ownTeam, others, foundUser, foundBot, foundChannel] = await Promise.all([
      workspace === undefined ? undefined : ask('team', workspace).then(inside(facts.enterprise)),
      Promise.all(
        otherTeams.filter((each) => each !== team).map(async (each) => ask('team', each)),
      ),
      askPart('user', hasTriple ? undefined : user),
      askPart('bot', hasTriple && user === undefined ? undefined : bot),
      askPart('channel', hasTriple || course.channelPolicy === 'skip' ? undefined : channel),
    ])
    return {
      binding,
      teams: ownTeam ? [ownTeam, ...others] : others,
      user: foundUser,
      bot: foundBot,
      channel: foundChannel,
    }
  }

  /** Whether something is known to be absent, so that the store need not be asked. */
  function isRefusedAlready(ids: SlackIds, token: string, { channelPolicy }: Asked): boolean {
    const { team, user, channel } = ids
    const isAbsent = (kind: EntityKind, id: string | undefined) =>
      id !== undefined && lookups.known({ team, kind, id, token })?.state === 'absent'
    return isAbsent('user', user) || (channelPolicy === 'strict' && isAbsent('channel', channel))
  }

  function remember(
    ids: SlackIds,
    token: string,
    { verdict, verifiedAt }: Decision,
    { channelPolicy, era }: Asked,
  ): Promise<void> | undefined {
    const triple = tripleOf(ids)
    const isSeen = verdict.ok && verdict.channelUnseen !== true && channelPolicy !== 'skip'
    if (!triple || !isSeen || verifiedAt === undefined) return undefined
    return triples.add(triple.key, triple.ids, { token, verifiedAt, era })
  }

  return {
    async decide(ids, token, asked) {
      const triple = tripleOf(ids)
      let hasTriple = triple !== undefined && triples.get(triple.key) !== undefined
      if (triple && !hasTriple && !isRefusedAlready(ids, token, asked)) {
        const until = asked.deadline
        const stored = await triples.find(triple.key, triple.ids, { token, until, era: asked.era })
        hasTriple = stored !== undefined
        if (stored) for (const name of namesOf(ids)) known.add(ids.team, name)
      }
      if (hasTriple && triple?.isWhole === true) return { verdict: { ok: true, source: 'cache' } }
      const decision = decide(
        ids,
        await findAll(ids, token, { ...asked, hasTriple }),
        asked.channelPolicy,
      )
      const saved = hasTriple ? undefined : remember(ids, token, decision, asked)
      return { verdict: decision.verdict, saved }
    },

    async renew(ids, token, asked) {
      const triple = tripleOf(ids)
      const verifiedSince = clock.now() - RENEWED_FROM * CACHE_SECONDS * 1000
      const findings = await findAll(ids, token, { ...asked, verifiedSince })
      const decision = decide(ids, findings, asked.channelPolicy)
      const { verdict } = decision
      if (verdict.ok) await remember(ids, token, decision, asked)
      else if (verdict.kind === 'refused' && triple) triples.drop(triple.key)
    },

    probe: async (token, deadline) =>
      lookups.ask(bindingOf(token), { until: deadline, isKnown: false }),
  }
}

/** A workspace must be one of the organisation whose token vouches for it. */
function inside(enterprise: string | undefined) {
  return (finding: Finding): Finding =>
    finding.state === 'exists' && finding.facts.enterprise !== enterprise
      ? { state: 'absent' }
      : finding
}

/** As ids are known by: an id that is known as one kind of thing is not known as another. */
function nameOf({ kind, id, workspace }: Question): string {
  // Nor in one workspace of an organisation for what it is in another, which may be invented.
  return workspace === undefined ? `${kind}:${id}` : `${kind}:${workspace}/${id}`
}

function namesOf({ user, bot, channel }: SlackIds): string[] {
  const parts = { user, bot, channel }
  return Object.entries(parts).flatMap(([kind, id]) => (id === undefined ? [] : [`${kind}:${id}`]))
}
