/** The sources of a user. */
import type { Clock } from '@strongroom/kit/clock'
import { newId } from '@strongroom/kit/ids'
import { type Principal, requirePermission } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { SourceChanges } from '../db/sources.ts'
import { ferryhookError } from '../errors.ts'
import type { AuditAction } from '../items/account-trail.ts'
import type { Source } from '../items/source.ts'
import { planLimits } from '../plans.ts'
import type { DedupRule } from '../verification/dedup-key.ts'
import { again } from './again.ts'
import type { KeptSecrets } from './kept-secrets.ts'
import type { Notices } from './notices.ts'
import { createSourceSigning, type SigningInput } from './source-signing.ts'
import { asUserGone } from './user-gone.ts'

export interface SourceInput extends SigningInput {
  name?: string | undefined
  /** null leaves it to the provider. */
  dedup?: DedupRule | null | undefined
}

export type NewSource = SourceInput & { name: string; provider: Source['provider'] }

export function createSourceBook(deps: {
  layer: Pick<DataLayer, 'sources'>
  kept: KeptSecrets
  clock: Clock
  notices: Notices
}) {
  const { notices } = deps
  const { sources } = deps.layer
  const signing = createSourceSigning(deps)

  async function get({ user }: Principal, sourceId: string): Promise<Source> {
    const source = await sources.getOwned(sourceId, user.userId)
    if (!source) throw ferryhookError('source_not_found')
    return source
  }

  /** `decide` sees the source as it is; it is asked again if someone else changes it meanwhile. */
  async function update(
    principal: Principal,
    sourceId: string,
    action: AuditAction,
    decide: (source: Source) => Promise<SourceChanges> | SourceChanges,
  ): Promise<Source> {
    const { userId } = principal.user
    const by = { actor: principal.actor, action }
    const changed = await again('source_changed', async () => {
      const seen = await get(principal, sourceId)
      const changes = await decide(seen)
      if (Object.keys(changes).length === 0) return seen
      return sources.update(sourceId, userId, changes, { seen, by }).catch(orNotFound)
    })
    notices.sourceChanged(sourceId)
    return changed
  }

  return {
    get,

    list: ({ user }: Principal): Promise<Source[]> => sources.listByUser(user.userId),

    async create({ user, actor }: Principal, input: NewSource): Promise<Source> {
      const { userId, plan } = user
      const { name, provider } = input
      const place = { userId, sourceId: newId('src'), provider }
      const signed = await signing.ofNew(place, input)
      const by = { actor, action: 'source.created' } as const
      const source = { ...place, ...signed, ...dedupOf(input), name }
      return sources.create(source, { withinPlan: true, by }).catch((error: unknown) => {
        if (!(error instanceof Refused && error.reason === 'plan_limit')) asUserGone(error)
        throw ferryhookError('plan_limit', { data: { plan, sources: planLimits[plan].sources } })
      })
    },

    /** How a source is verified is for those who administrate: it decides who is believed. */
    async change(principal: Principal, sourceId: string, input: SourceInput): Promise<Source> {
      const isSigning = changesSigning(input)
      if (isSigning) requirePermission(principal, 'admin')
      const action = isSigning ? 'source.signing_changed' : 'source.changed'
      return update(principal, sourceId, action, async (source) => ({
        ...(isSigning && (await signing.ofChanged(source, input))),
        ...(input.name !== undefined && { name: input.name }),
        ...dedupOf(input),
      }))
    },

    rotateSecret: (
      principal: Principal,
      sourceId: string,
      given: { signingSecret: string; overlapSeconds: number },
    ): Promise<Source> =>
      update(principal, sourceId, 'source.secret_rotated', (source) =>
        signing.ofRotated(source, given),
      ),

    pause: (principal: Principal, sourceId: string): Promise<Source> =>
      update(principal, sourceId, 'source.paused', () => ({ status: 'paused' })),

    resume: (principal: Principal, sourceId: string): Promise<Source> =>
      update(principal, sourceId, 'source.resumed', () => ({ status: 'active' })),

    async delete(principal: Principal, sourceId: string): Promise<void> {
      const { user, actor } = principal
      const by = { actor, action: 'source.deleted' } as const
      await sources.delete(sourceId, user.userId, { by }).catch(orNotFound)
      notices.sourceChanged(sourceId)
      notices.workDue()
    },
  }
}

export type SourceBook = ReturnType<typeof createSourceBook>

function changesSigning(input: SourceInput): boolean {
  const { provider, signingSecret, signingAlgorithm, signingOptions } = input
  const given = [provider, signingSecret, signingAlgorithm, signingOptions]
  return given.some((value) => value !== undefined)
}

function dedupOf({ dedup }: SourceInput): Pick<SourceChanges, 'dedup'> {
  if (dedup === undefined) return {}
  return { dedup: dedup === null ? undefined : JSON.stringify(dedup) }
}

function orNotFound(error: unknown): never {
  const isGone = error instanceof Refused && error.reason === 'not_found'
  throw isGone ? ferryhookError('source_not_found') : error
}
