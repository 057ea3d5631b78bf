/** The second factors of operators: in `strongroom-server`, encrypted by KMS, each change audited. */
import type { Clock } from '@strongroom/platform/clock'
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { type OperatorIdentity, secondFactorKey } from '@strongroom/kit/operator-item'
import { createOperatorSessions, type OperatorSession } from '@strongroom/kit/operator-sessions'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import {
  createSecondFactorItems,
  isEnrolled,
  type StoredSecondFactors,
} from '@strongroom/kit/second-factor/item'
import {
  createSecondFactors,
  type SecondFactors,
  type SecondFactorStore,
} from '@strongroom/kit/second-factor/second-factors'
import type { SecondFactorChange, TotpBox } from '@strongroom/kit/second-factor/verification'
import { serverTable } from '@strongroom/kit/server-table'
import { transactParts } from '@strongroom/kit/transact'

/** What a proof of a second factor begins or renews, in the same transaction. */
export interface VerifiedParts {
  parts: Record<string, TransactWriteItem>
  /** The audit log entry; none for a renewal. */
  action?: string
  target?: string
  /** Throws if one of its own conditions failed. */
  refuse(by: ReadonlyMap<string, unknown>): void
}

export interface FactorActor {
  by: AuditActor
  /** The session that makes the change. */
  session?: OperatorSession
  verified?: VerifiedParts
}

export function createOperatorFactors(deps: {
  db: Db
  clock: Clock
  auditLog: AuditLog
  operators: Operators
  kmsKey: KmsKey
  publicUrl: string
  requiresSecondFactor?: boolean
}) {
  const { db, clock, auditLog, operators, publicUrl, requiresSecondFactor = false } = deps
  const items = createSecondFactorItems(db, serverTable, secondFactorKey)
  const sessions = createOperatorSessions({ db, clock })
  const box = createTotpBox(deps.kmsKey)

  /** The operator must still be there: one of the same name must not inherit a factor. */
  function operatorParts(
    identity: OperatorIdentity,
    session: OperatorSession | undefined,
    isFirst: boolean,
  ): Record<string, TransactWriteItem> {
    if (!isFirst) return { operator: operators.unchangedPart(identity) }
    const { part, mark } = operators.endSessionsPart(identity)
    // Sessions that began without a second factor end, except the one that added it.
    const own = session && sessions.verifiedPart(session, { mark, secondFactor: true })
    return { operator: part, ...(own && { session: own }) }
  }

  function requireFactorLeft(
    { operator: { role } }: OperatorIdentity,
    change: SecondFactorChange,
    after: StoredSecondFactors | undefined,
  ): void {
    const isRemoval = change.kind === 'totp_removed' || change.kind === 'passkey_removed'
    if (isRemoval && requiresSecondFactor && role === 'admin' && !isEnrolled(after)) {
      throw operatorError('last_second_factor')
    }
  }

  function storeAs({ by, session, verified }: FactorActor): SecondFactorStore {
    return {
      load: items.load,
      async replace(name, before, after, change) {
        const identity = await operators.load(name)
        if (!identity) throw operatorError('not_found')
        // It may have ended since the request was authenticated, and must not revive itself.
        if (session && session.mark !== identity.mark) throw operatorError('session_ended')
        requireFactorLeft(identity, change, after)
        const isFirst = !isEnrolled(before) && isEnrolled(after)
        const completes = change.kind === 'verified' ? verified : undefined
        const audited = completes
          ? completes.action && { action: completes.action, target: completes.target }
          : auditedChange(name, change)
        const outcome = await transactParts<string>(
          audited ? auditLog.audited({ ...by, ...audited }) : db,
          {
            factors: items.replacePart(name, before, after),
            ...operatorParts(identity, session, isFirst),
            ...completes?.parts,
          },
        )
        if (outcome.kind === 'done') return true
        if (outcome.by.has('session')) throw operatorError('session_ended')
        completes?.refuse(outcome.by)
        return false
      },
    }
  }

  return {
    /** For one request. */
    as: (actor: FactorActor): SecondFactors =>
      createSecondFactors({
        store: storeAs(actor),
        clock,
        box,
        publicUrl,
        issuer: `Strongroom ${new URL(publicUrl).hostname}`,
      }),

    isEnrolled: async (name: string): Promise<boolean> => isEnrolled(await items.load(name)),

    /** What the second step of a sign-in accepts. */
    async methods(name: string) {
      const { totp, passkeys = [], recoveryCodes = [] } = (await items.load(name)) ?? {}
      return [
        ...(passkeys.length > 0 ? (['passkey'] as const) : []),
        ...(totp ? (['totp'] as const) : []),
        ...(recoveryCodes.length > 0 ? (['recovery_code'] as const) : []),
      ]
    },
  }
}

export type OperatorFactors = ReturnType<typeof createOperatorFactors>

/** The audit log entry of a change; a wrong code is one only if it locks. */
function auditedChange(name: string, change: SecondFactorChange) {
  const action = (what: string) => ({ action: `server.operator.${what}`, target: name })
  switch (change.kind) {
    case 'started':
    case 'verified':
      return undefined
    case 'failed':
      return change.isLocked ? action('second_factor_locked') : undefined
    case 'passkey_added':
    case 'passkey_renamed':
    case 'passkey_removed':
      return { ...action(change.kind), after: { passkeyName: change.name } }
    default:
      return action(change.kind)
  }
}

/** Encrypted by KMS itself, whose keys rotate without losing what they encrypted. */
function createTotpBox({ kms, arn }: KmsKey): TotpBox {
  return {
    async seal(secret, owner) {
      const { CiphertextBlob } = await kms.encrypt({
        KeyId: arn,
        Plaintext: secret,
        EncryptionContext: totpContext(owner),
      })
      return CiphertextBlob
    },
    async open(sealed, owner) {
      const { Plaintext } = await kms.decrypt({
        KeyId: arn,
        CiphertextBlob: sealed,
        EncryptionContext: totpContext(owner),
      })
      return Plaintext
    },
  }
}

/** Authenticated together with the secret of an authenticator app: it opens for its operator only. */
export function totpContext(operator: string) {
  return { purpose: 'operator-totp', operator }
}
