/** Creates accounts, as far as the server's sign-up policy allows. */
import { newId } from '@strongroom/kit/ids'
import { ferryhookError, translate } from '../../errors.ts'
import type { FerryhookSettings } from '../../settings.ts'
import type { Stores } from '../../stores.ts'
import type { User } from './item.ts'
import type { CreateUserInput } from './store.ts'

export type NewUser = Omit<CreateUserInput, 'plan' | 'userId'>

/**
 * Throws `identity_taken` also for the second of two concurrent sign-ins. Calls `newUser` only after
 * the policy allowed a sign-up, because hashing a password is expensive.
 */
export type SignUp = (
  newUser: () => NewUser | Promise<NewUser>,
  invite: string | undefined,
) => Promise<User>

export function createSignUp(deps: {
  stores: Pick<Stores, 'users' | 'tickets'>
  config: Pick<FerryhookSettings, 'FERRYHOOK_SIGNUP' | 'FERRYHOOK_DEFAULT_PLAN'>
}): SignUp {
  const { stores, config } = deps
  const policy = config.FERRYHOOK_SIGNUP

  return async (newUser, invite) => {
    const ticket = await inviteTicket(invite)
    const userId = newId('usr')
    const input = { ...(await newUser()), userId, plan: config.FERRYHOOK_DEFAULT_PLAN }
    const by = { actor: `user:${userId}`, action: 'account.created' } as const
    return stores.users.create(input, { ticket, by }).catch(
      translate({
        ticket_used: 'invalid_invite',
        identity_taken: 'identity_taken',
        email_taken: 'email_taken',
      }),
    )
  }

  async function inviteTicket(invite: string | undefined) {
    if (policy === 'open') return undefined
    if (policy === 'closed') throw ferryhookError('signup_closed')
    if (invite === undefined) throw ferryhookError('invite_required')
    const ticket = await stores.tickets.get('invite', invite)
    if (!ticket) throw ferryhookError('invalid_invite')
    return stores.tickets.usePart(ticket)
  }
}
