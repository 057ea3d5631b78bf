/** New accounts, as far as the policy of the server allows them. */
import { newId } from '@strongroom/kit/ids'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { CreateUserInput } from '../db/users.ts'
import { ferryhookError } from '../errors.ts'
import type { User } from '../items/user.ts'
import type { FerryhookSettings } from '../settings.ts'

export type NewUser = Omit<CreateUserInput, 'plan' | 'userId'>

/**
 * Throws what keeps it from being made; `identity_taken` also of two sign-ins at once. Who the user is
 * is asked for when the policy allows one: a password costs time that not everybody may take.
 */
export type SignUp = (
  user: () => NewUser | Promise<NewUser>,
  invite: string | undefined,
) => Promise<User>

type Config = Pick<FerryhookSettings, 'FERRYHOOK_SIGNUP' | 'FERRYHOOK_DEFAULT_PLAN'>

export function createSignUp(deps: {
  layer: Pick<DataLayer, 'users' | 'tickets'>
  config: Config
}): SignUp {
  const { layer, config } = deps
  const policy = config.FERRYHOOK_SIGNUP

  return async (newUser, invite) => {
    const ticket = await ticketFor(invite)
    const userId = newId('usr')
    const input = { ...(await newUser()), userId, plan: config.FERRYHOOK_DEFAULT_PLAN }
    const by = { actor: `user:${userId}`, action: 'account.created' } as const
    return layer.users.create(input, { ticket, by }).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      if (error.reason === 'ticket_used') throw ferryhookError('invalid_invite')
      if (error.reason === 'identity_taken') throw ferryhookError('identity_taken')
      throw error.reason === 'email_taken' ? ferryhookError('email_taken') : error
    })
  }

  async function ticketFor(invite: string | undefined) {
    if (policy === 'open') return undefined
    if (policy === 'closed') throw ferryhookError('signup_closed')
    if (invite === undefined) throw ferryhookError('invite_required')
    const ticket = await layer.tickets.get('invite', invite)
    if (!ticket) throw ferryhookError('invalid_invite')
    return layer.tickets.usePart(ticket)
  }
}
