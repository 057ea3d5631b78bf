/** The sources of a user. */
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import type { Clock } from '@strongroom/platform/clock'
import type { AuditAction } from '../accounts/audit/item.ts'
import { type Principal, requirePermission, toAccountError } from '../accounts/authentication.ts'
import { ferryhookError, translate } from '../errors.ts'
import type { LocalEvents } from '../local-events.ts'
import { planLimits } from '../plans.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { toConflict, WriteRejected } from '../storage/write-rejected.ts'
import type { Stores } from '../stores.ts'
import type { DedupRule } from '../verification/dedup-key.ts'
import type { Source } from './item.ts'
import { createSourceSigning, type SigningInput } from './signing.ts'
import type { SourceChanges } from './store.ts'

export interface SourceInput extends SigningInput {
  name?: string | undefined
  /** null selects the provider's default. */
  dedup?: DedupRule | null | undefined
}

export type NewSource = SourceInput & { name: string; provider: Source['provider'] }

const MAX_UPDATE_ATTEMPTS = 20

export type SourceService = ReturnType<typeof createSourceService>

export function createSourceService(deps: {
  stores: Pick<Stores, 'sources'>
  sealedSecrets: SealedSecrets
  clock: Clock
  localEvents: LocalEvents
}) {
  const { localEvents } = deps
  const { sources } = deps.stores
  const signing = createSourceSigning(deps)

  async function get({ user }: Principal, sourceId: string): Promise<Source> {
    const source = await sources.getOwned(sourceId, user.userId)
    if (!source) throw ferryhookError('source_not_found')
    return source
  }

  /** `decide` derives the changes from the current source; it runs again after a conflict. */
  async function update(
    principal: Principal,
    sourceId: string,
    action: AuditAction,
    decide: (source: Source) => Promise<SourceChanges> | SourceChanges,
  ): Promise<Source> {
    const { userId } = principal.user
    const by = { actor: principal.actor, action }
    const updated = await retryOnConflict(
      async () => {
        const expected = await get(principal, sourceId)
        const changes = await decide(expected)
        if (Object.keys(changes).length === 0) return expected
        return sources
          .update(sourceId, userId, changes, { expected, by })
          .catch(translate({ not_found: 'source_not_found' }))
          .catch(toConflict('source_changed'))
      },
      { maxAttempts: MAX_UPDATE_ATTEMPTS },
    )
    localEvents.sourceChanged(sourceId)
    return updated
  }

  return {
    get,

    list: ({ user }: Principal): Promise<Source[]> => sources.listByUser(user.userId),

    async create({ user, actor }: Principal, input: NewSource): Promise<Source> {
      const { userId, plan } = user
      const { name, provider } = input
      const id = { userId, sourceId: newId('src'), provider }
      const attributes = await signing.forNew(id, input)
      const by = { actor, action: 'source.created' } as const
      const source = { ...id, ...attributes, ...dedupIn(input), name }
      return sources.create(source, { enforcePlanLimit: true, by }).catch((error: unknown) => {
        if (!(error instanceof WriteRejected && error.reason === 'plan_limit')) {
          return toAccountError(error)
        }
        throw ferryhookError('plan_limit', { data: { plan, sources: planLimits[plan].sources } })
      })
    },

    /** Verification decides which senders are trusted, so changing it requires an admin. */
    async change(principal: Principal, sourceId: string, input: SourceInput): Promise<Source> {
      const isSigning = changesSigning(input)
      if (isSigning) requirePermission(principal, 'admin')
      const action = isSigning ? 'source.signing_changed' : 'source.changed'
      return update(principal, sourceId, action, async (source) => ({
        ...(isSigning && (await signing.forUpdate(source, input))),
        ...(input.name !== undefined && { name: input.name }),
        ...dedupIn(input),
      }))
    },

    rotateSecret: (
      principal: Principal,
      sourceId: string,
      input: { signingSecret: string; overlapSeconds: number },
    ): Promise<Source> =>
      update(principal, sourceId, 'source.secret_rotated', (source) =>
        signing.forRotation(source, input),
      ),

    pause: (principal: Principal, sourceId: string): Promise<Source> =>
      update(principal, sourceId, 'source.paused', () => ({ status: 'paused' })),

    resume: (principal: Principal, sourceId: string): Promise<Source> =>
      update(principal, sourceId, 'source.resumed', () => ({ status: 'active' })),

    async delete({ user, actor }: Principal, sourceId: string): Promise<void> {
      const by = { actor, action: 'source.deleted' } as const
      await sources
        .delete(sourceId, user.userId, { by })
        .catch(translate({ not_found: 'source_not_found' }))
      localEvents.sourceChanged(sourceId)
      localEvents.workDue()
    },
  }
}

function changesSigning(input: SourceInput): boolean {
  const { provider, signingSecret, signingAlgorithm, signingOptions } = input
  const values = [provider, signingSecret, signingAlgorithm, signingOptions]
  return values.some((value) => value !== undefined)
}

function dedupIn({ dedup }: SourceInput): Pick<SourceChanges, 'dedup'> {
  if (dedup === undefined) return {}
  return { dedup: dedup === null ? undefined : JSON.stringify(dedup) }
}
