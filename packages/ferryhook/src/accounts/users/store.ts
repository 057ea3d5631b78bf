import type { TransactWriteItem } from '@strongroom/kit/db'
import { conditionHeld, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, type Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { z } from 'zod'
import type { Plan } from '../../plans.ts'
import { absent, equalsOrAbsent, exists, indexKey } from '../../storage/conditions.ts'
import { isoNow, monthStart } from '../../storage/time.ts'
import { updateExpression } from '../../storage/update-expression.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import { describeChanges, asText } from '../audit/changes.ts'
import type { Audited, AuditWriter } from '../audit/store.ts'
import { rejectTaken, requireSignInMethod, uniqueKeysOf } from './identity.ts'
import {
  emailGuardKey,
  GuardItem,
  normalizeEmail,
  type OAuthProvider,
  oauthGuardKey,
  oauthProviders,
  type User,
  userByEmail,
  UserItem,
  userKey,
} from './item.ts'
import { createUsageCounter } from './usage-counter.ts'

export interface CreateUserInput {
  /** Set by callers that refer to the user before it is stored. */
  userId?: string
  email: string
  name: string
  plan: Plan
  passwordHash?: string | undefined
  githubId?: string | undefined
  googleId?: string | undefined
  /** A provider verified the address. */
  isEmailVerified?: boolean
}

const Changeable = UserItem.omit({
  PK: true,
  SK: true,
  GSI1PK: true,
  GSI1SK: true,
  userId: true,
  createdAt: true,
  updatedAt: true,
  // Only `incrementUsage` changes these.
  usageThisMonth: true,
  usagePeriodStart: true,
  // Only `sources.create` changes this.
  sourcesRev: true,
  // Only `verifyEmail`, `resetPassword` and a new address or identity change these.
  emailVerifiedAt: true,
  credentialsValidFrom: true,
  credentialsUnconfirmedSince: true,
  githubLinkedAt: true,
  googleLinkedAt: true,
})
/** An undefined value removes the attribute. */
export type UserChanges = Partial<z.infer<typeof Changeable>>

interface WriteOptions extends Audited {
  /** Rejects the write with `password_changed` unless the user still has this password. */
  expected?: Pick<User, 'passwordHash'> | undefined
  /** Further parts of the transaction. `update` ignores them if it changes an identity. */
  extraParts?: TransactWriteItem[]
}

type SignInAttributes = Partial<Pick<User, 'email' | 'githubId' | 'googleId' | 'passwordHash'>>

export type UserStore = ReturnType<typeof createUserStore>

export function createUserStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const users = entity(db, mainTable, UserItem)
  const guards = entity(db, mainTable, GuardItem)

  async function getById(userId: string): Promise<User | null> {
    return (await users.get(userKey.of({ userId }))) ?? null
  }

  /** The owner of a unique key, provided that the profile agrees. */
  async function getByUniqueKey(key: { PK: string; SK: string }): Promise<User | null> {
    const owner = await guards.get({ PK: key.PK, SK: 'GUARD' })
    const user = owner && (await getById(owner.userId))
    return user && uniqueKeysOf(user).some(({ PK }) => PK === key.PK) ? user : null
  }

  async function changeIdentity(
    userId: string,
    changes: UserChanges,
    {
      by,
      expected,
      validate = () => {},
    }: Omit<WriteOptions, 'extraParts'> & { validate?: (after: User) => void },
  ): Promise<User> {
    return retryOnConflict(async () => {
      const before = await getById(userId)
      if (!before) throw new WriteRejected('not_found')
      requireUnchangedPassword(before, expected)
      const after = { ...before, ...changes }
      validate(after)
      const [oldKeys, newKeys] = [uniqueKeysOf(before), uniqueKeysOf(after)]
      const added = newKeys.filter(({ PK }) => !oldKeys.some((key) => key.PK === PK))
      const removed = oldKeys.filter(({ PK }) => !newKeys.some((key) => key.PK === PK))
      const change = updateExpression(mainTable, UserItem, userKey.of({ userId }), {
        ...changes,
        ...linkTimes(before, after, isoNow(clock)),
        ...(after.email !== before.email && { emailVerifiedAt: undefined }),
        GSI1PK: userByEmail.of(after).GSI1PK,
        updatedAt: isoNow(clock),
      })
      await transact(db, [
        ...added.map((key) => guards.part.put({ ...key, userId }, absent)),
        ...removed.map((key) =>
          guards.part.delete(key, expr`${guards.attr('userId')} = ${userId}`),
        ),
        users.part.update(userKey.of({ userId }), change, hasIdentity(before)),
        ...audit.parts(by && { ...by, changes: emailChange(before, changes) }, { userId }),
      ]).catch(rejectTaken(uniqueKeysOf(changes), userId))
      return (await getById(userId)) ?? before
    })
  }

  const emailChange = (before: User, changes: UserChanges) =>
    describeChanges<Pick<User, 'email'>>(before, changes, { email: asText })

  function has(user: SignInAttributes, name: keyof SignInAttributes): Expression {
    return equalsOrAbsent(users.attr(name), user[name])
  }

  /** The stored user signs in exactly as this one does. */
  function hasIdentity(user: User): Expression | undefined {
    const names = ['email', 'githubId', 'googleId', 'passwordHash'] as const
    return all(...names.map((name) => has(user, name)))
  }

  return {
    /**
     * Rejected with `email_taken` or `identity_taken` if another user has it, and with `ticket_used`
     * if the ticket, a part of the transaction, was used or has expired.
     */
    async create(
      input: CreateUserInput,
      {
        ticket,
        extraParts = [],
        by,
      }: Omit<WriteOptions, 'expected'> & { ticket?: TransactWriteItem | undefined } = {},
    ): Promise<User> {
      const now = isoNow(clock)
      const { userId = newId('usr'), isEmailVerified = false, ...attributes } = input
      const email = normalizeEmail(input.email)
      const user: User = {
        ...userKey.of({ userId }),
        ...userByEmail.of({ email }),
        ...attributes,
        ...(isEmailVerified && { emailVerifiedAt: now }),
        userId,
        email,
        usageThisMonth: 0,
        usagePeriodStart: monthStart(clock.now()),
        createdAt: now,
        updatedAt: now,
      }
      const keys = uniqueKeysOf(user)
      const ticketPart = keys.length + 1
      await retryOnConflict(() =>
        transact(db, [
          ...keys.map((key) => guards.part.put({ ...key, userId }, absent)),
          users.part.put(user, absent),
          ...(ticket ? [ticket] : []),
          ...extraParts,
          ...audit.parts(by, { userId }),
        ]).catch((error: unknown) => {
          // The ticket comes first: only its holder may learn that an address is taken.
          const isTransaction = error instanceof TransactionFailed
          if (ticket && isTransaction && error.conditionFailed(ticketPart)) {
            throw new WriteRejected('ticket_used')
          }
          return rejectTaken(keys, userId)(error)
        }),
      )
      return withoutUndefined(user)
    },

    getById,

    /**
     * The index may be stale: the profile confirms that the user still has the address, and the guard
     * item finds a user that the index does not have yet.
     */
    async getByEmail(email: string): Promise<User | null> {
      const address = normalizeEmail(email)
      const key = indexKey(userByEmail.of({ email: address }))
      const { items } = await users.query({ index: 'GSI1', key, limit: 1 })
      const user = items[0] && (await getById(items[0].userId))
      if (user?.email === address) return user
      return getByUniqueKey(emailGuardKey.of({ email: address }))
    },

    /** Ignores e-mail addresses: one that the provider did not verify proves nothing. */
    getByOAuth: (provider: OAuthProvider, id: string): Promise<User | null> =>
      getByUniqueKey(oauthGuardKey.of({ provider, id })),

    async update(
      userId: string,
      updates: UserChanges,
      { by, expected, extraParts = [] }: WriteOptions = {},
    ): Promise<User> {
      const changes =
        updates.email === undefined ? updates : { ...updates, email: normalizeEmail(updates.email) }
      const key = userKey.of({ userId })
      updateExpression(mainTable, Changeable, key, changes)
      if ('email' in changes || 'githubId' in changes || 'googleId' in changes) {
        return changeIdentity(userId, changes, { by, expected })
      }
      const change = updateExpression(mainTable, UserItem, key, {
        ...changes,
        updatedAt: isoNow(clock),
      })
      const samePassword = expected && has(expected, 'passwordHash')
      const isWritten = await conditionHeld(
        transact(db, [
          users.part.update(key, change, all(exists, samePassword)),
          ...extraParts,
          ...audit.parts(by, { userId }),
        ]),
      )
      const user = await getById(userId)
      if (!isWritten && user) requireUnchangedPassword(user, expected)
      if (!isWritten || !user) throw new WriteRejected('not_found')
      return user
    },

    /** Rejected with `only_sign_in` if the user could not sign in any more. */
    unlink: (userId: string, provider: OAuthProvider, { by }: Audited = {}): Promise<User> =>
      changeIdentity(
        userId,
        { [`${provider}Id`]: undefined },
        { by, validate: requireSignInMethod },
      ),

    /** Links an identity to the owner of the same address, while that address is verified. */
    linkByAddress: (
      expected: User,
      provider: OAuthProvider,
      id: string,
      { by }: Audited = {},
    ): Promise<User> =>
      changeIdentity(
        expected.userId,
        { [`${provider}Id`]: id },
        {
          by,
          validate(after) {
            const isSame = after.email === expected.email && after.emailVerifiedAt !== undefined
            if (!isSame) throw new WriteRejected('not_found')
          },
        },
      ),

    /** Rejected with `ticket_used` also if the address is no longer the expected one. */
    async verifyEmail(
      expected: Pick<User, 'userId' | 'email'>,
      { ticket, by }: Audited & { ticket: TransactWriteItem },
    ): Promise<User> {
      const { userId } = expected
      const now = isoNow(clock)
      const verifiedAt = users.attr('emailVerifiedAt')
      const change = expr`SET ${verifiedAt} = if_not_exists(${verifiedAt}, ${now}), ${users.attr('updatedAt')} = ${now}`
      const isWritten = await conditionHeld(
        transact(db, [
          ticket,
          users.part.update(userKey.of({ userId }), change, all(exists, has(expected, 'email'))),
          ...audit.parts(by, { userId }),
        ]),
      )
      const user = isWritten ? await getById(userId) : null
      if (!user) throw new WriteRejected('ticket_used')
      return user
    },

    /**
     * Uses the ticket in the same transaction, and revokes the credentials that `revocation` names.
     * Rejected with `ticket_used` also if the user no longer signs in as expected.
     */
    async resetPassword(
      expected: User,
      passwordHash: string,
      {
        ticket,
        revocation,
        by,
      }: Audited & { ticket: TransactWriteItem; revocation?: CredentialRevocation },
    ): Promise<void> {
      const key = userKey.of(expected)
      const { userId } = expected
      const { identities = [], ...times } = revocation ?? {}
      const removed = Object.fromEntries(
        identities.flatMap((name) => [
          [`${name}Id`, undefined],
          [`${name}LinkedAt`, undefined],
        ]),
      )
      const change = updateExpression(mainTable, UserItem, key, {
        passwordHash,
        ...times,
        ...removed,
        updatedAt: isoNow(clock),
      })
      const guardKeys = uniqueKeysOf(
        Object.fromEntries(identities.map((name) => [`${name}Id`, expected[`${name}Id`]])),
      )
      await transact(db, [
        ticket,
        users.part.update(key, change, all(exists, hasIdentity(expected))),
        ...guardKeys.map((guard) =>
          guards.part.delete(guard, expr`${guards.attr('userId')} = ${userId}`),
        ),
        ...identities.flatMap((target) =>
          by ? audit.parts({ ...by, action: 'identity.unlinked', target }, { userId }) : [],
        ),
        ...audit.parts(by, { userId }),
      ]).catch((error: unknown) => {
        if (!(error instanceof TransactionFailed && error.conditionFailed())) throw error
        const isMissing = error.conditionFailed(1) && error.reasons[1]?.item === undefined
        throw new WriteRejected(isMissing ? 'not_found' : 'ticket_used', { cause: error })
      })
    },

    incrementUsage: createUsageCounter({ db, clock }),

    /** Also deletes the unique keys, which others may use then; `purge` deletes everything else. */
    async delete(
      userId: string,
      { by, expected, extraParts = [] }: WriteOptions = {},
    ): Promise<void> {
      await retryOnConflict(async () => {
        const user = await getById(userId)
        if (!user) return
        requireUnchangedPassword(user, expected)
        await transact(db, [
          ...uniqueKeysOf(user).map((key) => guards.part.delete(key)),
          users.part.delete(userKey.of({ userId }), hasIdentity(user)),
          ...extraParts,
          ...audit.parts(by, { userId }),
        ])
      })
    },
  }
}

/** What a password reset revokes, besides sessions. */
export interface CredentialRevocation {
  emailVerifiedAt: string
  credentialsValidFrom: string
  credentialsUnconfirmedSince: string
  identities: OAuthProvider[]
}

/** The times of identities that a change adds or removes. */
function linkTimes(before: User, after: User, now: string): Partial<User> {
  const times: Partial<User> = {}
  for (const provider of oauthProviders) {
    const id = after[`${provider}Id`]
    if (id === before[`${provider}Id`]) continue
    times[`${provider}LinkedAt`] = id === undefined ? undefined : now
  }
  return times
}

function requireUnchangedPassword(user: User, expected: WriteOptions['expected']): void {
  if (!expected || expected.passwordHash === user.passwordHash) return
  throw new WriteRejected('password_changed')
}

/** The item as a read returns it. */
function withoutUndefined<T extends object>(item: T): T {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T
}
