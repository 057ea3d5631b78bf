/** What operators do for users: invite them, help them back in, and say what they may have. */
import type { DataLayer } from '../db/data-layer.ts'
import type { PaginatedResult } from '../db/deps.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { Ticket } from '../items/ticket.ts'
import type { User } from '../items/user.ts'
import type { Plan } from '../plans.ts'
import { credentialsOf } from './credentials.ts'
import type { Notices } from './notices.ts'

const INVITE_SECONDS = 7 * 86_400
const RESET_SECONDS = 86_400

export interface PlanChange {
  plan: Plan
  /** Kept for whoever bills them; null removes it. */
  stripeCustomerId?: string | null | undefined
  stripeSubId?: string | null | undefined
}

/** A ticket that was just made, with the text that is never told again. */
export interface MadeTicket {
  text: string
  ticket: Ticket
}

export function createAdministration(deps: {
  layer: Pick<DataLayer, 'users' | 'userListing' | 'tickets'>
  notices: Notices
}) {
  const { layer, notices } = deps

  async function get(userId: string): Promise<User> {
    const user = await layer.users.getById(userId)
    if (!user) throw ferryhookError('user_not_found')
    return user
  }

  return {
    get,

    /** All of them, or the one with this e-mail address. */
    async list(opts: {
      email?: string | undefined
      limit?: number
      cursor?: string | undefined
    }): Promise<PaginatedResult<User>> {
      if (opts.email === undefined) return layer.userListing.list(opts)
      const user = await layer.users.getByEmail(opts.email)
      return { items: user ? [user] : [], cursor: null }
    },

    invite: (operator: string): Promise<MadeTicket> =>
      layer.tickets.create({
        kind: 'invite',
        createdBy: operator,
        lifetimeSeconds: INVITE_SECONDS,
      }),

    async offerPasswordReset(operator: string, userId: string): Promise<MadeTicket> {
      const user = await get(userId)
      const ticket = {
        kind: 'password_reset',
        userId,
        replaces: credentialsOf(user),
        createdBy: operator,
        lifetimeSeconds: RESET_SECONDS,
      } as const
      const actor = `operator:${operator}`
      const action = 'account.password_reset_offered'
      return layer.tickets.create(ticket, { by: { actor, action } })
    },

    async setPlan(operator: string, userId: string, change: PlanChange): Promise<User> {
      const { plan, ...stripe } = change
      const given = Object.entries(stripe).filter(([, value]) => value !== undefined)
      const references = Object.fromEntries(
        given.map(([name, value]) => [name, value === null ? undefined : value]),
      )
      const actor = `operator:${operator}`
      const by = { actor, action: 'account.plan_changed', target: plan } as const
      const user = await layer.users
        .update(userId, { plan, ...references }, { by })
        .catch((error: unknown) => {
          throw error instanceof Refused ? ferryhookError('user_not_found') : error
        })
      notices.userChanged(userId)
      return user
    },
  }
}

export type Administration = ReturnType<typeof createAdministration>
