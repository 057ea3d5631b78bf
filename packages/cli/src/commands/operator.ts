/** `strongroom operator …`: who may administer the server, on any store or through a server. */
import { type Operator, type OperatorRole, operatorRoles } from '@strongroom/kit/operator-item'
import { systemClock } from '@strongroom/platform/clock'
import { FIRST_ADMIN } from '@strongroom/server/operators/bootstrap'
import { createOperatorService } from '@strongroom/server/operators/service'
import type { SessionView } from '@strongroom/server/sessions/view'
import { serviceNames } from '@strongroom/server/services'
import { createAnonymousClientIfRequested } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { formatRelative, parseDuration } from '../output.ts'
import { withAuditedStore } from '../server/audited-store.ts'
import { withOperators } from '../server/operator-access.ts'

const roleSummary = 'viewer reads; editor also changes; admin also manages operators'

const operatorAdd: Command = {
  name: 'operator add',
  kind: 'either',
  creates: true,
  args: 'NAME',
  summary: 'Add an operator and print its token (shown once)',
  options: {
    role: { value: 'ROLE', summary: `${roleSummary} (admin)` },
    service: { value: 'SERVICE', multiple: true, summary: 'Limit it to this service; repeatable' },
    expires: { value: 'TIME', summary: 'Reject its token after this time, such as 90d' },
  },
  about: `An admin may also reset passwords of users, change destinations of submissions and upstreams, and
read the audit log. SERVICE is one of ${serviceNames.join(', ')}.`,
  async run(input) {
    const [name = ''] = input.args
    const grant = {
      role: parseRole(input) ?? ('admin' as const),
      services: parseServices(input),
      expiresAt: parseExpiry(input) ?? undefined,
    }
    const token = await withOperators(input, (operators) => operators.add(name, grant))
    input.output.result(`${token}\n`, { name, token })
  },
}

const operatorChange: Command = {
  name: 'operator change',
  kind: 'either',
  args: 'NAME',
  summary: "Change an operator's role, services or expiry; its token stays",
  options: {
    role: { value: 'ROLE', summary: roleSummary },
    service: { value: 'SERVICE', multiple: true, summary: 'Limit it to this service; repeatable' },
    'all-services': { summary: 'Remove the limit to services' },
    expires: { value: 'TIME', summary: 'Reject its token after this time, such as 90d; or never' },
  },
  about: 'One admin for all services and without an expiry must remain.',
  async run(input) {
    const [name = ''] = input.args
    const isForAll = input.options['all-services'] === true
    const services = parseServices(input)
    if (isForAll && services) throw usageError('Use either --service or --all-services, not both')
    const change = {
      role: parseRole(input),
      services: isForAll ? null : services,
      expiresAt: parseExpiry(input),
    }
    if (Object.values(change).every((value) => value === undefined)) {
      throw usageError('Nothing to change: pass --role, --service, --all-services or --expires')
    }
    const changed = await withOperators(input, (operators) => operators.change(name, change))
    input.output.result(lineOf(changed), changed)
  },
}

const operatorRotate: Command = {
  name: 'operator rotate',
  kind: 'either',
  args: 'NAME',
  summary: "Replace an operator's token and print the new one (shown once)",
  about: 'The old token becomes invalid immediately.',
  async run(input) {
    const [name = ''] = input.args
    const token = await withOperators(input, (operators) => operators.rotate(name))
    input.output.result(`${token}\n`, { name, token })
  },
}

const operatorList: Command = {
  name: 'operator list',
  kind: 'either',
  summary: 'List operators: role, expiry and last use',
  async run(input) {
    const found = await withOperators(input, (operators) => operators.list())
    input.output.result(found.map(lineOf).join('') || 'There are no operators\n', found)
  },
}

const operatorRemove: Command = {
  name: 'operator remove',
  kind: 'either',
  args: 'NAME',
  summary: 'Remove an operator; its token becomes invalid immediately',
  async run(input) {
    const [name = ''] = input.args
    await withOperators(input, (operators) => operators.remove(name))
    input.output.result(`${name} was removed\n`, { name, removed: true })
  },
}

const operatorSessions: Command = {
  name: 'operator sessions',
  kind: 'either',
  args: '[NAME]',
  summary: 'List sessions of operators in the console',
  about: 'With the token of an operator who is not an admin of the whole server, only its own.',
  async run(input) {
    const [name] = input.args
    const found = await withOperators(input, (operators) => operators.sessions(name))
    input.output.result(found.map(sessionLine).join('') || 'There are no sessions\n', found)
  },
}

const operatorSessionsRevoke: Command = {
  name: 'operator sessions revoke',
  kind: 'either',
  args: 'ID',
  summary: 'End a session of an operator',
  async run(input) {
    const [id = ''] = input.args
    await withOperators(input, (operators) => operators.revokeSession(id))
    input.output.result('The session has ended\n', { id, revoked: true })
  },
}

const operatorReset: Command = {
  name: 'operator reset-2fa',
  kind: 'either',
  args: 'NAME',
  summary: "Reset an operator's second factor and end its sessions",
  about: 'For an operator who lost it. The token stays: rotate it too if it may be stolen.',
  async run(input) {
    const [name = ''] = input.args
    await withOperators(input, (operators) => operators.resetSecondFactor(name))
    input.output.result(`${name} can sign in with its token alone\n`, { name, reset: true })
  },
}

const operatorBootstrap: Command = {
  name: 'operator bootstrap',
  kind: 'store',
  creates: true,
  summary: 'Create a bootstrap code that adds an admin (shown once)',
  about: `Works on any store, also while a server runs: the way in for containers and AWS. The code works
once and for 30 minutes, and ends the one before it. Use it with "strongroom operator claim".`,
  run: (input) =>
    withAuditedStore(input, [], async ({ store, auditLog, by }) => {
      const operators = createOperatorService({ db: store.db, clock: systemClock, auditLog })
      const { code, expiresAt } = await operators.createCode(by)
      const until = new Date(expiresAt * 1000).toISOString()
      input.output.result(`${code}\n`, { code, expiresAt: until })
    }),
}

const operatorClaim: Command = {
  name: 'operator claim',
  kind: 'either',
  args: 'CODE',
  secretArgs: true,
  summary: "Exchange a bootstrap code for an admin's token (shown once)",
  options: {
    name: { value: 'NAME', summary: `Name of the new admin (${FIRST_ADMIN})` },
  },
  about: 'Needs no token.',
  async run(input) {
    const claimed = await claim(input)
    input.output.result(`${claimed.token}\n`, claimed)
  },
}

async function claim(input: CommandInput): Promise<{ name: string; token: string }> {
  const [code = ''] = input.args
  const name = String(input.options['name'] ?? FIRST_ADMIN)
  const api = createAnonymousClientIfRequested(input, 'server')
  if (api) return api('POST', '/bootstrap', { code, name })
  return withAuditedStore(input, [], ({ store, auditLog }) =>
    createOperatorService({ db: store.db, clock: systemClock, auditLog }).claimCode(
      undefined,
      code,
      name,
    ),
  )
}

function parseRole({ options: { role } }: CommandInput): OperatorRole | undefined {
  if (role === undefined) return undefined
  const known = operatorRoles.find((each) => each === role)
  if (known === undefined) throw usageError(`--role must be one of ${operatorRoles.join(', ')}`)
  return known
}

function parseServices({ lists }: CommandInput): string[] | undefined {
  const given = lists['service']
  if (given === undefined) return undefined
  const unknown = given.find((name) => !serviceNames.includes(name))
  if (unknown === undefined) return [...new Set(given)]
  throw usageError(`--service must be one of ${serviceNames.join(', ')}`)
}

/** Null for never. */
function parseExpiry({ options: { expires } }: CommandInput): number | null | undefined {
  if (typeof expires !== 'string') return undefined
  if (expires === 'never') return null
  return Math.floor(systemClock.now() / 1000) + parseDuration('expires', expires)
}

function lineOf(operator: Operator): string {
  const { name, role, services, createdAt, rotatedAt, expiresAt, lastUsedAt } = operator
  const parts = [
    services ? `${role} for ${services.join(', ')}` : role,
    `added ${day(createdAt)}`,
    ...(rotatedAt === undefined ? [] : [`token rotated ${day(rotatedAt)}`]),
    ...(expiresAt === undefined ? [] : [expiryText(expiresAt)]),
    lastUsedAt === undefined ? 'never used' : `last used ${relative(lastUsedAt)}`,
  ]
  return `${name}  ${parts.join(', ')}\n`
}

function sessionLine(session: SessionView): string {
  const { id, operator, createdAt, lastUsedAt, expiresAt, address, secondFactor } = session
  const since = (time: string) => formatRelative(time, systemClock.now())
  const parts = [
    `signed in ${since(createdAt)}${address === null ? '' : ` from ${address}`}`,
    ...(secondFactor ? ['with a second factor'] : []),
    ...(lastUsedAt === null ? [] : [`last used ${since(lastUsedAt)}`]),
    `expires ${since(expiresAt)}`,
  ]
  return `${operator}  ${id}  ${parts.join(', ')}\n`
}

function expiryText(expiresAt: number): string {
  return expiresAt * 1000 <= systemClock.now() ? 'EXPIRED' : `expires ${relative(expiresAt)}`
}

function relative(epochSeconds: number): string {
  return formatRelative(new Date(epochSeconds * 1000).toISOString(), systemClock.now())
}

function day(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().slice(0, 10)
}

export const commands: readonly Command[] = [
  operatorAdd,
  operatorList,
  operatorChange,
  operatorRotate,
  operatorRemove,
  operatorSessions,
  operatorSessionsRevoke,
  operatorReset,
  operatorBootstrap,
  operatorClaim,
]
