/** `strongroom user add`: creates a Ferryhook account on the store. */
import { addedUserId, addUser } from '@strongroom/ferryhook/accounts/users/add-user'
import { ferryhookService } from '@strongroom/ferryhook/service'
import { FORBIDDEN_NAME_CHARACTERS } from '@strongroom/ferryhook/storage/schemas'
import { systemClock } from '@strongroom/platform/clock'
import { tablesOf } from '@strongroom/server/tables'
import { refuseServer } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { withAuditedStore } from '../server/audited-store.ts'

const userAdd: Command = {
  name: 'user add',
  kind: 'either',
  creates: true,
  args: 'EMAIL',
  summary: 'Create a Ferryhook account and print its API key (shown once)',
  options: {
    name: { value: 'NAME', summary: 'Name of the user; the part of EMAIL before the @ by default' },
  },
  about: `Works on any store, also while a server runs, regardless of FERRYHOOK_SIGNUP. The key has all
permissions; the account has no password until one is set with an operator's link.`,
  async run(input) {
    const user = parseUser(input)
    refuseServer(input)
    await withAuditedStore(input, tablesOf([ferryhookService]), async (on) => {
      const { configured, auditLog, by } = on
      const change = { ...by, action: 'ferryhook.user.added', target: addedUserId }
      // `configured` has the settings of every service.
      const deps = { db: auditLog.audited(change), clock: systemClock, config: configured as never }
      const { userId, email, key } = await addUser(deps, user)
      input.output.result(`${key}\n`, { id: userId, email, key })
    })
  },
}

function parseUser({ args: [email = ''], options }: CommandInput) {
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw usageError('EMAIL must be an e-mail address, such as ada@example.com')
  }
  const [beforeAt = ''] = email.split('@')
  const name = typeof options['name'] === 'string' ? options['name'].trim() : beforeAt
  if (name.length < 1 || name.length > 100) {
    throw usageError('--name must have 1 to 100 characters')
  }
  if (FORBIDDEN_NAME_CHARACTERS.test(name)) {
    throw usageError('--name must not contain control characters or invalid characters')
  }
  return { email, name }
}

export const commands: readonly Command[] = [userAdd]
