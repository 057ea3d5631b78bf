/** `strongroom user …`: the accounts of Ferryhook, on the store or through a server. */
import type { OperatorUserView } from '@strongroom/ferryhook/accounts/users/view'
import { type Plan, plans } from '@strongroom/ferryhook/plans'
import { FORBIDDEN_NAME_CHARACTERS } from '@strongroom/ferryhook/storage/schemas'
import { systemClock } from '@strongroom/platform/clock'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { findUser, type Link, withUsers } from '../ferryhook/user-access.ts'
import { usageText } from '../ferryhook/text.ts'
import type { Page } from '../ferryhook/views.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'

const DEFAULT_LIMIT = '100'
const PAGE_SIZE = 100
const userHelp = 'USER is an id, or the e-mail address.'

const userAdd: Command = {
  name: 'user add',
  kind: 'either',
  creates: true,
  args: 'EMAIL',
  summary: 'Create a Ferryhook account and print its API key (shown once)',
  options: {
    name: { value: 'NAME', summary: 'Name of the user; the part of EMAIL before the @ by default' },
    plan: { value: 'PLAN', summary: `One of ${plans.join(', ')} (FERRYHOOK_DEFAULT_PLAN)` },
  },
  about: `Works regardless of FERRYHOOK_SIGNUP. The key has all permissions; the account has no password
until its user sets one with the link of "strongroom user reset".`,
  async run(input) {
    const account = { ...parseUser(input), plan: parsePlan('--plan', input.options['plan']) }
    const { id, email, key } = await withUsers(input, (users) => users.add(account))
    input.output.result(`${key}\n`, { id, email, key })
  },
}

const userList: Command = {
  name: 'user list',
  kind: 'either',
  summary: 'List Ferryhook accounts: plan, usage and age',
  options: {
    limit: { value: 'NUMBER', summary: `Maximum number (${DEFAULT_LIMIT})` },
  },
  about: 'In no particular order.',
  async run(input) {
    const limit = parseLimit(input)
    const found = await withUsers(input, (users) => listAll(users.list, limit))
    const head = ['ID', 'EMAIL', 'NAME', 'PLAN', 'EVENTS', 'CREATED']
    const rows = found.map((user) => [
      user.id,
      escapeControls(user.email),
      escapeControls(user.name),
      user.plan,
      String(user.usageThisMonth),
      formatRelative(user.createdAt, systemClock.now()),
    ])
    const none = 'There are no users: add one with "strongroom user add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), found)
  },
}

const userShow: Command = {
  name: 'user show',
  kind: 'either',
  args: 'USER',
  summary: 'Show a Ferryhook account: plan, usage, sign-in and Stripe ids',
  about: userHelp,
  async run(input) {
    const given = input.args[0] ?? ''
    const user = await withUsers(input, async (users) => {
      const found = await findUser(users, given)
      return given === found.id ? found : users.get(found.id)
    })
    input.output.result(textOf(user), user)
  },
}

const userPlan: Command = {
  name: 'user plan',
  kind: 'either',
  args: 'USER PLAN',
  summary: 'Set the plan of a Ferryhook account',
  options: {
    'stripe-customer': { value: 'ID', summary: 'Stripe customer, for your billing; or none' },
    'stripe-subscription': { value: 'ID', summary: 'Stripe subscription; or none' },
  },
  about: `${userHelp} PLAN is one of ${plans.join(', ')}. Its limits apply immediately. Options that you omit
stay unchanged.`,
  async run(input) {
    const { options, args } = input
    const plan = parsePlan('PLAN', args[1])
    if (plan === undefined) throw usageError('Missing plan: pass USER and PLAN')
    const change = {
      plan,
      stripeCustomerId: parseStripeId(options['stripe-customer']),
      stripeSubId: parseStripeId(options['stripe-subscription']),
    }
    const user = await withUsers(input, async (users) => {
      const { id } = await findUser(users, args[0] ?? '')
      return users.setPlan(id, change)
    })
    input.output.result(textOf(user), user)
  },
}

const userInvite: Command = {
  name: 'user invite',
  kind: 'either',
  args: '[EMAIL]',
  summary: 'Create an invite link, or mail it',
  about: `Prints the link, which creates one account within seven days (shown once). With EMAIL, the link is
mailed and not printed; this requires FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM. Links begin with
PUBLIC_URL.`,
  async run(input) {
    const [email] = input.args
    if (email === undefined) {
      const link = await withUsers(input, (users) => users.invite())
      return printLink(input, link)
    }
    requireEmail(email)
    await withUsers(input, (users) => users.mailInvite(email))
    input.output.result(`The invite was mailed to ${email}\n`, { email, mailed: true })
  },
}

const userReset: Command = {
  name: 'user reset',
  kind: 'either',
  args: 'USER',
  summary: 'Create a password reset link (shown once)',
  about: `${userHelp} The link works once, within one day. The user gets a mail, if it is configured, and a
notice at the next sign-ins. Whoever has the link can sign in as the user.`,
  async run(input) {
    const link = await withUsers(input, async (users) => {
      const { id } = await findUser(users, input.args[0] ?? '')
      return users.createResetLink(id)
    })
    printLink(input, link)
  },
}

const userResetSecondFactor: Command = {
  name: 'user reset-2fa',
  kind: 'either',
  args: 'USER',
  summary: 'Remove the second factor of a user who lost it',
  about: `${userHelp} Deletes the authenticator app, the passkeys and the recovery codes, and ends all
sessions: the password alone signs in again. The user gets a mail, if it is configured. Make sure that
it is the user who asks.`,
  async run(input) {
    const { id, email } = await withUsers(input, async (users) => {
      const user = await findUser(users, input.args[0] ?? '')
      await users.resetSecondFactor(user.id)
      return user
    })
    const text = `The second factor of ${escapeControls(email)} was removed, and all sessions have ended\n`
    input.output.result(text, { id, email, reset: true })
  },
}

const userRemove: Command = {
  name: 'user remove',
  kind: 'either',
  args: 'USER',
  summary: 'Delete a Ferryhook account permanently',
  about: `${userHelp} Deletes its API keys, sources and connections. Events expire as the plan says.`,
  async run(input) {
    const { id, email } = await withUsers(input, async (users) => {
      const user = await findUser(users, input.args[0] ?? '')
      await users.remove(user.id)
      return user
    })
    input.output.result(`${escapeControls(email)} was removed\n`, { id, email, removed: true })
  },
}

const userFailing: Command = {
  name: 'user failing',
  kind: 'either',
  summary: 'List failing connections of all Ferryhook accounts',
  options: {
    limit: { value: 'NUMBER', summary: `Maximum number (${DEFAULT_LIMIT})` },
  },
  about: `Active connections with failed attempts since the last success, and those that Ferryhook paused. In no
particular order. Shows the host of a destination only, because its path may contain credentials.`,
  async run(input) {
    const limit = parseLimit(input)
    const found = await withUsers(input, (users) => listAll(users.listFailing, limit))
    const now = systemClock.now()
    const head = ['ID', 'ACCOUNT', 'NAME', 'DESTINATION', 'STATUS', 'SINCE', 'FAILED ATTEMPTS']
    const rows = found.map((each) => [
      each.id,
      escapeControls(each.email ?? each.userId),
      escapeControls(each.name),
      escapeControls(each.destinationHost),
      each.status === 'paused' ? `paused (${escapeControls(each.statusReason ?? '')})` : 'failing',
      each.failingSince === null ? '' : formatRelative(each.failingSince, now),
      String(each.failedAttempts),
    ])
    const none = 'No connection fails\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), found)
  },
}

/** Pages until there are no more, or enough. */
async function listAll<T>(
  list: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
  limit: number,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  do {
    const size = Math.min(PAGE_SIZE, limit - all.length)
    const page: Page<T> = await list({ limit: size, ...(cursor !== null && { cursor }) })
    all.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && all.length < limit)
  return all
}

function printLink({ output }: CommandInput, link: Link): void {
  output.progress(`The link works once, until ${link.expiresAt}`)
  output.result(`${link.url}\n`, link)
}

function textOf(user: OperatorUserView): string {
  const signIn = [...(user.hasPassword ? ['password'] : []), ...user.identities]
  return columns([
    ['user', user.id],
    ['email', `${escapeControls(user.email)}${user.emailVerified ? '' : ' (not verified)'}`],
    ['name', escapeControls(user.name)],
    ['plan', user.plan],
    ['events', `${usageText(user)} since ${user.usagePeriodStart}`],
    ['signs in with', signIn.join(', ') || 'nothing, only API keys'],
    ['Stripe customer', escapeControls(user.stripeCustomerId ?? 'none')],
    ['Stripe subscription', escapeControls(user.stripeSubId ?? 'none')],
    ['created', formatRelative(user.createdAt, systemClock.now())],
  ])
}

function parseUser({ args: [email = ''], options }: CommandInput) {
  requireEmail(email)
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

function requireEmail(email: string): void {
  if (email.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(email)) return
  throw usageError('EMAIL must be an e-mail address, such as ada@example.com')
}

function parsePlan(what: string, given: string | boolean | undefined): Plan | undefined {
  if (given === undefined) return undefined
  const plan = plans.find((each) => each === given)
  if (plan === undefined) throw usageError(`${what} must be one of ${plans.join(', ')}`)
  return plan
}

/** Null removes it. */
function parseStripeId(given: string | boolean | undefined): string | null | undefined {
  if (typeof given !== 'string') return undefined
  return given === 'none' ? null : given
}

function parseLimit({ options }: CommandInput): number {
  const text = String(options['limit'] ?? DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usageError('--limit must be a number from 1 to 999999')
  return Number(text)
}

export const commands: readonly Command[] = [
  userAdd,
  userList,
  userShow,
  userPlan,
  userInvite,
  userReset,
  userResetSecondFactor,
  userRemove,
  userFailing,
]
