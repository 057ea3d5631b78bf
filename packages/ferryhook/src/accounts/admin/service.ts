/**
 * What operators do for users: add and invite them, reset passwords, set plans and delete accounts.
 * Each change has an entry in the audit log of operators, and in that of the account if there is one.
 */
import type { AuditActor, AuditedWrite, AuditLog } from '@strongroom/kit/audit-log'
import type { AuditedItem } from '@strongroom/kit/audited-item'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { requestError } from '@strongroom/kit/http/errors'
import { createInFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import pLimit from 'p-limit'
import type { Connection } from '../../connections/item.ts'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import { isEnrolled } from '@strongroom/kit/second-factor/item'
import { ferryhookError, translate } from '../../errors.ts'
import type { LocalEvents } from '../../local-events.ts'
import type { Mail, Mailer } from '../../mail/mailer.ts'
import {
  inviteMail,
  operatorResetMail,
  resetMail,
  secondFactorResetMail,
} from '../../mail/templates.ts'
import type { Plan } from '../../plans.ts'
import type { FerryhookSettings } from '../../settings.ts'
import { toConflict } from '../../storage/write-rejected.ts'
import { FORBIDDEN_NAME_CHARACTERS } from '../../storage/schemas.ts'
import type { PageOpts } from '../../storage/paging.ts'
import type { PaginatedResult, Stores } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import { credentialFingerprint } from '../sessions/passwords.ts'
import { type AddedUser, addedUserId, addUser } from '../users/add-user.ts'
import { normalizeEmail, type User, UserItem, userKey } from '../users/item.ts'
import { finishPurge } from '../users/purge.ts'
import type { IssuedTicket } from './ticket-store.ts'

const INVITE_SECONDS = 7 * 86_400
const RESET_SECONDS = 86_400
const USER_CONCURRENCY = 10

export interface FailingConnection {
  connection: Connection
  /** Undefined if the account is being deleted. */
  email: string | undefined
}

export interface PlanChange {
  plan: Plan
  /** Stored for a billing system; null removes it. */
  stripeCustomerId?: string | null | undefined
  stripeSubId?: string | null | undefined
}

/** Builds the URL of the page where a ticket is used. */
type PageUrl = (ticket: string) => string

export type AdminService = ReturnType<typeof createAdminService>

export interface NewAccount {
  email: string
  name?: string | undefined
  /** The server's default plan unless given. */
  plan?: Plan | undefined
}

export function createAdminService(deps: {
  stores: Pick<
    Stores,
    | 'users'
    | 'userListing'
    | 'failingConnections'
    | 'tickets'
    | 'rateLimits'
    | 'accountPurge'
    | 'sessions'
  >
  /** Stores whose writes are recorded in the audit log of operators. */
  auditedStores(change: AuditedWrite): Stores
  auditLog: Pick<AuditLog, 'around'>
  config: Pick<FerryhookSettings, 'FERRYHOOK_DEFAULT_PLAN'>
  localEvents: LocalEvents
  mailer: Mailer | undefined
  log: Log
}) {
  const { stores, auditedStores, auditLog, localEvents, log } = deps
  /** The mails that are being sent. */
  const inFlight = createInFlight()

  function requireMailer(): Mailer {
    if (!deps.mailer) throw ferryhookError('mail_not_configured')
    return deps.mailer
  }

  async function get(userId: string): Promise<User> {
    const user = await stores.users.getById(userId)
    if (!user) throw ferryhookError('user_not_found')
    return user
  }

  const createInvite = (tickets: Stores['tickets'], by: AuditActor): Promise<IssuedTicket> =>
    tickets.create({
      kind: 'invite',
      createdBy: operatorName(by),
      lifetimeSeconds: INVITE_SECONDS,
    })

  async function createReset(
    tickets: Stores['tickets'],
    user: User,
    operator: string,
    extraParts: TransactWriteItem[] = [],
  ): Promise<IssuedTicket> {
    return tickets.create(
      {
        kind: 'password_reset',
        userId: user.userId,
        replaces: credentialFingerprint(user),
        createdBy: operator,
        lifetimeSeconds: RESET_SECONDS,
      },
      {
        by: { actor: `operator:${operator}`, action: 'account.password_reset_offered' },
        extraParts,
      },
    )
  }

  /** Does not wait for the mail server: the link exists whether or not it responds. */
  function notify(mail: Mail): void {
    const { mailer } = deps
    if (!mailer) return
    const send = async () => {
      const result = await mailer.send(mail)
      if (result.kind === 'failed') log.warn('notice mail failed', { reason: result.reason })
    }
    void inFlight.track(send().catch((error: unknown) => log.warn('notice mail failed', { error })))
  }

  async function sendReset(mailer: Mailer, email: string, pageUrl: PageUrl): Promise<void> {
    const user = await stores.users.getByEmail(email)
    // Someone may have signed up with the address of another person.
    if (user?.emailVerifiedAt === undefined) return
    const { admitted } = await stores.rateLimits.take('mail', user.userId)
    if (!admitted) return
    const { text } = await createReset(stores.tickets, user, 'mail')
    const mail = resetMail(user.email, { url: pageUrl(text), ticket: text })
    const result = await mailer.send(mail)
    if (result.kind === 'failed') log.warn('password reset mail failed', { reason: result.reason })
  }

  return {
    get,

    /** All users, or the one with this e-mail address. */
    async list(opts: {
      email?: string | undefined
      limit?: number
      cursor?: string | undefined
    }): Promise<PaginatedResult<User>> {
      if (opts.email === undefined) return stores.userListing.list(opts)
      const user = await stores.users.getByEmail(opts.email)
      return { items: user ? [user] : [], cursor: null }
    },

    /** Of all accounts, each with the address of its owner. */
    async listFailing(opts: PageOpts = {}): Promise<PaginatedResult<FailingConnection>> {
      const { items, cursor } = await stores.failingConnections.list(opts)
      const userIds = [...new Set(items.map(({ userId }) => userId))]
      const users = await pLimit(USER_CONCURRENCY).map(userIds, stores.users.getById)
      const emails = new Map(users.flatMap((user) => (user ? [[user.userId, user.email]] : [])))
      const withEmail = items.map((connection) => ({
        connection,
        email: emails.get(connection.userId),
      }))
      return { items: withEmail, cursor }
    },

    /** Returns the account with an API key. It has no password until its user sets one. */
    async add(by: AuditActor, { email, name, plan }: NewAccount): Promise<AddedUser> {
      const profile = {
        email,
        name: name ?? nameOf(email),
        plan: plan ?? deps.config.FERRYHOOK_DEFAULT_PLAN,
      }
      const change = { ...by, action: 'ferryhook.user.added', target: addedUserId }
      return addUser(auditedStores({ ...change, after: { plan: profile.plan } }), profile, {
        actor: accountActor(by),
      })
    },

    async setPlan(by: AuditActor, userId: string, change: PlanChange): Promise<User> {
      const { plan, ...stripe } = change
      const references = Object.fromEntries(
        Object.entries(stripe)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, value ?? undefined]),
      )
      const audited = auditedStores({
        ...by,
        action: 'ferryhook.user.plan_changed',
        target: userId,
        item: auditedPlan(userId, change),
      })
      const own = { actor: accountActor(by), action: 'account.plan_changed', target: plan } as const
      const user = await audited.users
        .update(userId, { plan, ...references }, { by: own })
        .catch(translate({ not_found: 'user_not_found' }))
      localEvents.userChanged(userId)
      return user
    },

    invite(by: AuditActor): Promise<IssuedTicket> {
      const { tickets } = auditedStores({ ...by, action: 'ferryhook.invite.created' })
      return createInvite(tickets, by)
    },

    async mailInvite(by: AuditActor, email: string, pageUrl: PageUrl): Promise<void> {
      const mailer = requireMailer()
      await auditLog.around({ ...by, action: 'ferryhook.invite.mailed' }, async () => {
        const { text } = await createInvite(stores.tickets, by)
        const mail = inviteMail(normalizeEmail(email), { url: pageUrl(text), ticket: text })
        const result = await mailer.send(mail)
        if (result.kind === 'failed') {
          throw ferryhookError('mail_failed', { cause: new Error(result.reason) })
        }
      })
    },

    /** The user gets a mail, if it is configured, and a notice at the next sign-ins. */
    async offerPasswordReset(by: AuditActor, userId: string): Promise<IssuedTicket> {
      const user = await get(userId)
      const operator = operatorName(by)
      const action = 'ferryhook.user.password_reset_offered'
      const { tickets, notices } = auditedStores({ ...by, action, target: userId })
      const issued = await createReset(tickets, user, operator, [
        notices.resetOfferedPart(userId, operator),
      ])
      notify(operatorResetMail(user.email))
      return issued
    },

    /** For a user who lost all factors and recovery codes: the password alone signs in again. */
    async resetSecondFactor(by: AuditActor, userId: string): Promise<void> {
      const action = 'ferryhook.user.second_factor_reset'
      const { secondFactors } = auditedStores({ ...by, action, target: userId })
      const own = { actor: accountActor(by), action: 'account.second_factor_reset' } as const
      const user = await retryOnConflict(async () => {
        const current = await get(userId)
        const before = await secondFactors.load(userId)
        if (!isEnrolled(before)) throw secondFactorError('not_enrolled')
        const isReset = await secondFactors
          .replace(current, { before, after: undefined, by: [own] })
          .catch(toConflict('password_changed'))
        return isReset === true ? current : CONFLICT
      })
      for (const { familyId } of await stores.sessions.listByUser(userId)) {
        await stores.sessions.revoke(userId, familyId)
      }
      notify(secondFactorResetMail(user.email))
    },

    /** Deletes the account with everything in it, except events, which expire. */
    async remove(by: AuditActor, userId: string): Promise<void> {
      const { plan } = await get(userId)
      const action = 'ferryhook.user.removed'
      const audited = auditedStores({ ...by, action, target: userId, before: { plan } })
      const own = { actor: accountActor(by), action: 'account.deleted' } as const
      const task = await audited.accountPurge.begin({ userId }, { by: own })
      await finishPurge({ stores, localEvents, log }, task)
    },

    /** Does not wait for the mail: the response time must not reveal whether the account exists. */
    mailPasswordReset(email: string, pageUrl: PageUrl): void {
      const sending = sendReset(requireMailer(), email, pageUrl).catch((error: unknown) =>
        log.warn('password reset mail failed', { error }),
      )
      void inFlight.track(sending)
    },

    /** Resolves when all mails that were started are sent or failed. */
    settled: (): Promise<void> => inFlight.settled(),
  }
}

function auditedPlan(userId: string, after: PlanChange): AuditedItem {
  return {
    table: mainTable,
    key: userKey.of({ userId }),
    attributes: ['plan', 'stripeCustomerId', 'stripeSubId'],
    describe(item) {
      const { plan, stripeCustomerId, stripeSubId } = UserItem.partial().parse(item ?? {})
      return { before: { plan, stripeCustomerId, stripeSubId }, after }
    },
  }
}

/** The part before the @, which may contain what a name must not. */
function nameOf(email: string): string {
  const [beforeAt = ''] = email.split('@')
  const name = beforeAt.slice(0, 100)
  if (!FORBIDDEN_NAME_CHARACTERS.test(name)) return name
  const message = 'Required, because the address contains characters that a name must not have'
  throw requestError('invalid', { details: [{ path: 'body.name', message }] })
}

/** Users see the names of operators, but not those of the users of the operating system. */
function operatorName({ actor }: AuditActor): string {
  return actor.startsWith('operator:') ? actor.slice('operator:'.length) : 'command-line'
}

function accountActor(by: AuditActor): string {
  return `operator:${operatorName(by)}`
}
