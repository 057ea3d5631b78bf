/** Access to the users of Ferryhook, on the configured store or through a server. */
import type { NewAccount, PlanChange } from '@strongroom/ferryhook/accounts/admin/service'
import { openAdminOnStore } from '@strongroom/ferryhook/accounts/admin/store-access'
import { resetPage, signUpPage } from '@strongroom/ferryhook/accounts/browser'
import {
  type OperatorUserView,
  toOperatorUserView,
} from '@strongroom/ferryhook/accounts/users/view'
import {
  type FailingConnectionView,
  toFailingConnectionView,
} from '@strongroom/ferryhook/connections/operator-routes'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { ApiError } from '@strongroom/kit/errors'
import { silentLog } from '@strongroom/kit/log'
import { systemClock } from '@strongroom/platform/clock'
import { publicUrlOf } from '@strongroom/server/own-settings'
import { tablesOf } from '@strongroom/server/tables'
import { type ApiClient, createOperatorClientIfRequested } from '../api-client.ts'
import type { CommandInput } from '../command.ts'
import { escapeControls } from '../output.ts'
import { withAuditedStore } from '../server/audited-store.ts'
import type { Page } from './views.ts'

/** A link that works once. */
export interface Link {
  url: string
  /** The secret of the link, for the API. */
  ticket: string
  expiresAt: string
}

export interface UserAccess {
  /** A page of all users, or the one with this address, with the stored usage. */
  list(page: { email?: string; limit?: number; cursor?: string }): Promise<Page<OperatorUserView>>
  /** With the usage of this moment. */
  get(id: string): Promise<OperatorUserView>
  add(account: NewAccount): Promise<OperatorUserView & { key: string }>
  setPlan(id: string, change: PlanChange): Promise<OperatorUserView>
  invite(): Promise<Link>
  mailInvite(email: string): Promise<void>
  createResetLink(id: string): Promise<Link>
  resetSecondFactor(id: string): Promise<void>
  remove(id: string): Promise<void>
  listFailing(page: { limit?: number; cursor?: string }): Promise<Page<FailingConnectionView>>
}

export async function withUsers<T>(
  input: CommandInput,
  work: (users: UserAccess) => Promise<T>,
): Promise<T> {
  const api = createOperatorClientIfRequested(input, 'ferryhook')
  return api ? work(remoteUsers(api)) : withLocalUsers(input, work)
}

/** USER of a command is an id or an e-mail address. */
export async function findUser(users: UserAccess, given: string): Promise<OperatorUserView> {
  if (!given.includes('@')) return users.get(given)
  const { items } = await users.list({ email: given })
  if (items[0]) return items[0]
  const message = `No user has the address "${escapeControls(given)}": see "strongroom user list"`
  throw new ApiError({ code: 'ferryhook.user_not_found', status: 404, message })
}

async function withLocalUsers<T>(
  input: CommandInput,
  work: (users: UserAccess) => Promise<T>,
): Promise<T> {
  return withAuditedStore(input, tablesOf([ferryhookService]), async (on) => {
    const { store, configured, auditLog, by } = on
    const { admin, figures, close } = await openAdminOnStore({
      db: store.db,
      clock: systemClock,
      // `configured` has the settings of every service.
      config: configured as never,
      auditLog,
      log: silentLog,
    })
    const publicUrl = publicUrlOf(configured, configured.PORT)
    const view = (user: Parameters<typeof toOperatorUserView>[0]) =>
      toOperatorUserView(user, systemClock.now())
    try {
      return await work({
        async list(page) {
          const { items, cursor } = await admin.list(page)
          return { items: items.map(view), cursor }
        },
        get: async (id) => view(await figures.user(await admin.get(id))),
        async add(account) {
          const { user, key } = await admin.add(by, account)
          return { ...view(user), key }
        },
        setPlan: async (id, change) =>
          view(await figures.user(await admin.setPlan(by, id, change))),
        async invite() {
          const { text: ticket, ticket: stored } = await admin.invite(by)
          return {
            ticket,
            url: signUpPage(publicUrl, ticket),
            expiresAt: isoTime(stored.expiresAt),
          }
        },
        mailInvite: (email) =>
          admin.mailInvite(by, email, (ticket) => signUpPage(publicUrl, ticket)),
        async createResetLink(id) {
          const { text: ticket, ticket: stored } = await admin.offerPasswordReset(by, id)
          return { ticket, url: resetPage(publicUrl, ticket), expiresAt: isoTime(stored.expiresAt) }
        },
        resetSecondFactor: (id) => admin.resetSecondFactor(by, id),
        remove: (id) => admin.remove(by, id),
        async listFailing(page) {
          const { items, cursor } = await admin.listFailing(page)
          return { items: items.map(toFailingConnectionView), cursor }
        },
      })
    } finally {
      await close()
    }
  })
}

/** Over HTTP, with an operator's token. */
function remoteUsers(api: ApiClient): UserAccess {
  const pathOf = (id: string) => `/users/${encodeURIComponent(id)}`
  return {
    list: (page) => api('GET', `/users?${toQuery(page)}`),
    get: (id) => api('GET', pathOf(id)),
    add: (account) => api('POST', '/users', account),
    setPlan: (id, change) => api('PUT', `${pathOf(id)}/plan`, change),
    invite: () => api('POST', '/invites'),
    mailInvite: (email) => api('POST', '/invites/mail', { email }),
    createResetLink: (id) => api('POST', `${pathOf(id)}/password-resets`),
    resetSecondFactor: (id) => api('DELETE', `${pathOf(id)}/second-factor`),
    remove: (id) => api('DELETE', pathOf(id)),
    listFailing: (page) => api('GET', `/failing-connections?${toQuery(page)}`),
  }
}

function toQuery(given: { email?: string; limit?: number; cursor?: string }): string {
  const { limit, ...rest } = given
  const query = { ...rest, ...(limit !== undefined && { limit: String(limit) }) }
  return new URLSearchParams(query).toString()
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
