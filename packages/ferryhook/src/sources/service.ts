/** The sources of a user. */
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import type { Clock } from '@strongroom/platform/clock'
import { describeChanges, hidden, asText } from '../accounts/audit/changes.ts'
import type { AuditAction } from '../accounts/audit/item.ts'
import { type Principal, requirePermission, toAccountError } from '../accounts/authentication.ts'
import { ferryhookError, translate } from '../errors.ts'
import type { LocalEvents } from '../local-events.ts'
import { planLimits } from '../plans.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { toConflict, WriteRejected } from '../storage/write-rejected.ts'
import type { Stores } from '../stores.ts'
import type { FieldRule } from '../verification/field-rule.ts'
import type { Source } from './item.ts'
import { createSourceSigning, type SigningInput } from './signing.ts'
import type { SourceChanges } from './store.ts'

export interface SourceInput extends SigningInput {
  name?: string | undefined
  /** null selects the provider's default. */
  dedup?: FieldRule | null | undefined
  eventType?: FieldRule | null | undefined
  /** Replaces all; an empty list removes them. */
  credentialHeaders?: readonly string[] | undefined
  /** null selects POST and PUT. */
  methods?: Source['methods'] | null
}

export type NewSource = SourceInput & { name: string; provider: Source['provider'] }

const MAX_UPDATE_ATTEMPTS = 20

/** What the audit log shows of a change. */
const audited = {
  name: asText,
  provider: asText,
  signingSecret: hidden,
  signingAlgorithm: asText,
  signingOptions: asText,
  dedup: asText,
  eventType: asText,
  credentialHeaders: asText,
  methods: asText,
} as const

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
    const updated = await retryOnConflict(
      async () => {
        const expected = await get(principal, sourceId)
        const changes = await decide(expected)
        if (Object.keys(changes).length === 0) return expected
        const described = describeChanges<SourceChanges>(expected, changes, audited)
        const by = { actor: principal.actor, action, changes: described }
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
      const changes = [{ name: 'name', after: name }]
      const by = { actor, action: 'source.created', changes } as const
      const source = {
        ...id,
        ...attributes,
        ...fieldRulesIn(input),
        ...credentialHeadersIn(input),
        ...methodsIn(input),
        name,
      }
      return sources.create(source, { enforcePlanLimit: true, by }).catch((error: unknown) => {
        if (!(error instanceof WriteRejected && error.reason === 'plan_limit')) {
          return toAccountError(error)
        }
        throw ferryhookError('plan_limit', { data: { plan, sources: planLimits[plan].sources } })
      })
    },

    /**
     * Verification decides which senders are trusted, and `credentialHeaders` which of their secrets
     * are stored, so changing them requires an admin.
     */
    async change(principal: Principal, sourceId: string, input: SourceInput): Promise<Source> {
      const isSigning = changesSigning(input)
      if (isSigning || input.credentialHeaders !== undefined) requirePermission(principal, 'admin')
      const action = isSigning ? 'source.signing_changed' : 'source.changed'
      return update(principal, sourceId, action, async (source) => ({
        ...(isSigning && (await signing.forUpdate(source, input))),
        ...(input.name !== undefined && { name: input.name }),
        ...fieldRulesIn(input),
        ...credentialHeadersIn(input),
        ...methodsIn(input),
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

function fieldRulesIn({
  dedup,
  eventType,
}: SourceInput): Pick<SourceChanges, 'dedup' | 'eventType'> {
  const toAttribute = (rule: FieldRule | null) => (rule === null ? undefined : JSON.stringify(rule))
  return {
    ...(dedup !== undefined && { dedup: toAttribute(dedup) }),
    ...(eventType !== undefined && { eventType: toAttribute(eventType) }),
  }
}

function credentialHeadersIn({
  credentialHeaders: names,
}: SourceInput): Pick<SourceChanges, 'credentialHeaders'> {
  if (names === undefined) return {}
  return { credentialHeaders: names.length === 0 ? undefined : [...new Set(names)] }
}

function methodsIn({ methods }: SourceInput): Pick<SourceChanges, 'methods'> {
  if (methods === undefined) return {}
  return { methods: methods === null ? undefined : [...new Set(methods)] }
}
