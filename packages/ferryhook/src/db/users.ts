import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { all, type Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { written } from '@strongroom/kit/written'
import type { z } from 'zod'
import {
  emailGuardKey,
  GuardItem,
  normalEmail,
  type OAuthProvider,
  oauthGuardKey,
  type User,
  userByEmail,
  UserItem,
  userKey,
} from '../items/user.ts'
import type { Plan } from '../plans.ts'
import { mainTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import { changeExpression } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isoNow, monthOf } from './times.ts'
import { optimistically } from './transaction.ts'
import { guardsOf, requireSignIn, takenBy } from './user-identities.ts'
import { createUserUsage } from './user-usage.ts'

export interface CreateUserInput {
  /** For those who speak of the user before. */
  userId?: string
  email: string
  name: string
  plan: Plan
  passwordHash?: string | undefined
  githubId?: string | undefined
  googleId?: string | undefined
}

const Changeable = UserItem.omit({
  PK: true,
  SK: true,
  GSI1PK: true,
  GSI1SK: true,
  userId: true,
  createdAt: true,
  updatedAt: true,
  // Counted by `incrementUsage` only.
  usageThisMonth: true,
  usagePeriodStart: true,
  // Raised by `sources.create` only.
  sourcesRev: true,
})
/** What is given as undefined is removed. */
export type UserChanges = Partial<z.infer<typeof Changeable>>

/** Only while the password is the one that was seen, by whom it was asked for; else `password_changed`. */
interface Confirmed {
  seen?: Pick<User, 'passwordHash'> | undefined
}

type SignInAttributes = Partial<Pick<User, 'email' | 'githubId' | 'googleId' | 'passwordHash'>>

export function createUsers({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const users = entity(db, mainTable, UserItem)
  const guards = entity(db, mainTable, GuardItem)
  const exists = expr`attribute_exists(${users.attr('PK')})`
  const absent = expr`attribute_not_exists(${users.attr('PK')})`

  async function getById(userId: string): Promise<User | null> {
    return (await users.get(userKey.of({ userId }))) ?? null
  }

  /** The owner of a guarded identity, if the profile agrees. */
  async function getGuarded(guard: { PK: string; SK: string }): Promise<User | null> {
    const owner = await guards.get({ PK: guard.PK, SK: 'GUARD' })
    const user = owner && (await getById(owner.userId))
    return user && guardsOf(user).some(({ PK }) => PK === guard.PK) ? user : null
  }

  async function changeIdentity(
    userId: string,
    changes: UserChanges,
    { by, seen, require = () => {} }: Logged & Confirmed & { require?: (after: User) => void },
  ): Promise<User> {
    return optimistically(
      async () => {
        const before = await getById(userId)
        if (!before) throw new Refused('not_found')
        requireSeen(before, seen)
        const after = { ...before, ...changes }
        require(after)
        const [had, has] = [guardsOf(before), guardsOf(after)]
        const won = has.filter(({ PK }) => !had.some((guard) => guard.PK === PK))
        const lost = had.filter(({ PK }) => !has.some((guard) => guard.PK === PK))
        const change = changeExpression(mainTable, UserItem, userKey.of({ userId }), {
          ...changes,
          GSI1PK: userByEmail.of(after).GSI1PK,
          updatedAt: isoNow(clock),
        })
        const parts: TransactWriteItem[] = [
          ...won.map((guard) => guards.part.put({ ...guard, userId }, absent)),
          ...lost.map((guard) =>
            guards.part.delete(guard, expr`${guards.attr('userId')} = ${userId}`),
          ),
          users.part.update(userKey.of({ userId }), change, sameIdentity(before)),
          ...audit.parts(by, { userId }),
        ]
        await transact(db, parts)
        return (await getById(userId)) ?? before
      },
      takenBy(guardsOf(changes), userId),
    )
  }

  function same(before: SignInAttributes, name: keyof SignInAttributes): Expression {
    const value = before[name]
    const attribute = users.attr(name)
    if (value === undefined) return expr`attribute_not_exists(${attribute})`
    return expr`${attribute} = ${value}`
  }

  /** The ways in which they sign in are as they were. */
  function sameIdentity(before: User): Expression | undefined {
    const names = ['email', 'githubId', 'googleId', 'passwordHash'] as const
    return all(...names.map((name) => same(before, name)))
  }

  return {
    /**
     * Refused with `email_taken` or `identity_taken` if it belongs to somebody; with `ticket_used` if
     * the ticket, a part of the transaction, is gone. `also` are further parts of it.
     */
    async create(
      input: CreateUserInput,
      {
        ticket,
        also = [],
        by,
      }: Logged & { ticket?: TransactWriteItem | undefined; also?: TransactWriteItem[] } = {},
    ): Promise<User> {
      const now = isoNow(clock)
      const { userId = newId('usr') } = input
      const email = normalEmail(input.email)
      const user: User = {
        ...userKey.of({ userId }),
        ...userByEmail.of({ email }),
        ...input,
        userId,
        email,
        usageThisMonth: 0,
        usagePeriodStart: monthOf(clock.now()),
        createdAt: now,
        updatedAt: now,
      }
      const owned = guardsOf(user)
      await optimistically(
        () =>
          transact(db, [
            ...owned.map((guard) => guards.part.put({ ...guard, userId }, absent)),
            users.part.put(user, absent),
            ...(ticket ? [ticket] : []),
            ...also,
            ...audit.parts(by, { userId }),
          ]),
        (failure) => {
          // An address that is taken is told to those only who hold a ticket.
          if (ticket && failure.conditionFailed(owned.length + 1)) throw new Refused('ticket_used')
          return takenBy(owned, userId)(failure)
        },
      )
      return withoutAbsent(user)
    },

    getById,

    /**
     * The index says whose the address is, the profile itself whether that is still so; while the
     * index does not know yet, the guard does.
     */
    async getByEmail(email: string): Promise<User | null> {
      const address = normalEmail(email)
      const { GSI1PK, GSI1SK } = userByEmail.of({ email: address })
      const { items } = await users.query({
        index: 'GSI1',
        key: expr`${users.attr('GSI1PK')} = ${GSI1PK} AND ${users.attr('GSI1SK')} = ${GSI1SK}`,
        limit: 1,
      })
      const user = items[0] && (await getById(items[0].userId))
      if (user?.email === address) return user
      return getGuarded(emailGuardKey.of({ email: address }))
    },

    /** By the identity only: an e-mail address that a provider did not verify proves nothing. */
    getByOAuth: (provider: OAuthProvider, id: string): Promise<User | null> =>
      getGuarded(oauthGuardKey.of({ provider, id })),

    /** `also` are parts of the transaction of a change that is none of identity. */
    async update(
      userId: string,
      updates: UserChanges,
      { by, seen, also = [] }: Logged & Confirmed & { also?: TransactWriteItem[] } = {},
    ): Promise<User> {
      const changes =
        updates.email === undefined ? updates : { ...updates, email: normalEmail(updates.email) }
      const key = userKey.of({ userId })
      changeExpression(mainTable, Changeable, key, changes)
      if ('email' in changes || 'githubId' in changes || 'googleId' in changes) {
        return changeIdentity(userId, changes, { by, seen })
      }
      const change = changeExpression(mainTable, UserItem, key, {
        ...changes,
        updatedAt: isoNow(clock),
      })
      const asSeen = seen && same(seen, 'passwordHash')
      const isWritten = await written(
        transact(db, [
          users.part.update(key, change, all(exists, asSeen)),
          ...also,
          ...audit.parts(by, { userId }),
        ]),
      )
      const changed = await getById(userId)
      if (!isWritten && changed) requireSeen(changed, seen)
      if (!isWritten) throw new Refused('not_found')
      if (!changed) throw new Refused('not_found')
      return changed
    },

    /** Refused with `only_sign_in` if there would be no way left. */
    unlink: (userId: string, provider: OAuthProvider, { by }: Logged = {}): Promise<User> =>
      changeIdentity(userId, { [`${provider}Id`]: undefined }, { by, require: requireSignIn }),

    /**
     * Together with the ticket that allows it, a part of the transaction; or refused `ticket_used`,
     * also if address or password are not those any more that were seen.
     */
    async resetPassword(
      seen: Pick<User, 'userId' | 'email' | 'passwordHash'>,
      passwordHash: string,
      { ticket, by }: Logged & { ticket: TransactWriteItem },
    ): Promise<void> {
      const key = userKey.of(seen)
      const unchanged = all(exists, same(seen, 'email'), same(seen, 'passwordHash'))
      const change = changeExpression(mainTable, UserItem, key, {
        passwordHash,
        updatedAt: isoNow(clock),
      })
      await transact(db, [
        ticket,
        users.part.update(key, change, unchanged),
        ...audit.parts(by, { userId: seen.userId }),
      ]).catch((error: unknown) => {
        if (!(error instanceof TransactionFailed && error.conditionFailed())) throw error
        const isGone = error.conditionFailed(1) && error.reasons[1]?.item === undefined
        throw new Refused(isGone ? 'not_found' : 'ticket_used', { cause: error })
      })
    },

    incrementUsage: createUserUsage({ db, clock }),

    /** With the guards, so that the address can be used again; what else is theirs goes its own way. */
    async delete(
      userId: string,
      { by, seen, also = [] }: Logged & Confirmed & { also?: TransactWriteItem[] } = {},
    ): Promise<void> {
      await optimistically(async () => {
        const user = await getById(userId)
        if (!user) return
        requireSeen(user, seen)
        const owned = guardsOf(user).map((guard) => guards.part.delete(guard))
        await transact(db, [
          ...owned,
          users.part.delete(userKey.of({ userId }), sameIdentity(user)),
          ...also,
          ...audit.parts(by, { userId }),
        ])
      })
    },
  }
}

export type Users = ReturnType<typeof createUsers>

function requireSeen(user: User, seen: Confirmed['seen']): void {
  if (seen && seen.passwordHash !== user.passwordHash) throw new Refused('password_changed')
}

/** As it is read back: an optional attribute that was given as undefined is not there. */
function withoutAbsent<T extends object>(item: T): T {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T
}
