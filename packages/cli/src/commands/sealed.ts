/** `strongroom sealed token …`: API tokens of Sealed, on the configured store or through a server. */
import { systemClock } from '@strongroom/platform/clock'
import { createAuditedApiTokens } from '@strongroom/sealed/api-tokens/audited'
import {
  type ApiToken,
  type ApiTokenView,
  DEFAULT_PER_HOUR,
  MAX_PER_HOUR,
  type NewApiToken,
  toApiTokenView,
} from '@strongroom/sealed/api-tokens/service'
import { createOperatorClientIfRequested } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { parseDuration } from '../output.ts'
import { withAuditedStore } from '../server/audited-store.ts'

interface TokenAccess {
  add(token: NewApiToken): Promise<ApiTokenView & { token: string }>
  list(): Promise<ApiTokenView[]>
  revoke(name: string): Promise<void>
}

const tokenAdd: Command = {
  name: 'sealed token add',
  kind: 'either',
  creates: true,
  args: 'NAME',
  summary: 'Create an API token that seals without proof of work and print it (shown once)',
  options: {
    expires: {
      value: 'TIME',
      summary: 'How long it is valid, such as 90d; without a limit unless given',
    },
    'per-hour': {
      value: 'N',
      summary: `Secrets per hour, counted across all servers (${DEFAULT_PER_HOUR})`,
    },
  },
  about: 'Set SEALED_TOKEN to it for "strongroom seal".',
  async run(input) {
    const { expires } = input.options
    const expiresInSeconds =
      typeof expires === 'string' ? parseDuration('expires', expires) : undefined
    const perHour = parsePerHour(input.options['per-hour'])
    await withTokens(input, async (tokens) => {
      const name = input.args[0] ?? ''
      const made = await tokens.add({ name, perHour, expiresInSeconds })
      input.output.result(`${made.token}\n`, made)
    })
  },
}

const tokenList: Command = {
  name: 'sealed token list',
  kind: 'either',
  summary: 'List API tokens with their limits and last uses',
  run: (input) =>
    withTokens(input, async (tokens) => {
      const found = await tokens.list()
      input.output.result(found.map(line).join('') || 'There are no API tokens\n', found)
    }),
}

const tokenRevoke: Command = {
  name: 'sealed token revoke',
  kind: 'either',
  args: 'NAME',
  summary: 'Revoke an API token; it becomes invalid immediately',
  run: (input) =>
    withTokens(input, async (tokens) => {
      const name = input.args[0] ?? ''
      await tokens.revoke(name)
      input.output.result(`${name} was revoked\n`, { name, revoked: true })
    }),
}

async function withTokens(
  input: CommandInput,
  work: (tokens: TokenAccess) => Promise<void>,
): Promise<void> {
  const api = createOperatorClientIfRequested(input, 'sealed')
  if (api) {
    return work({
      add: (token) => api('POST', '/api-tokens', token),
      list: async () => (await api<{ items: ApiTokenView[] }>('GET', '/api-tokens')).items,
      revoke: (name) => api('DELETE', `/api-tokens/${encodeURIComponent(name)}`),
    })
  }
  await withAuditedStore(input, [], async ({ store, auditLog, by }) => {
    const tokens = createAuditedApiTokens({ db: store.db, clock: systemClock, auditLog })
    await work({
      async add(given) {
        const { token, ...made } = await tokens.add(by, given)
        return { ...toApiTokenView(made satisfies ApiToken), token }
      },
      list: async () => (await tokens.list()).map(toApiTokenView),
      revoke: (name) => tokens.revoke(by, name),
    })
  })
}

function parsePerHour(given: string | boolean | undefined): number | undefined {
  if (given === undefined) return undefined
  const perHour = typeof given === 'string' && /^\d{1,7}$/.test(given) ? Number(given) : 0
  if (perHour >= 1 && perHour <= MAX_PER_HOUR) return perHour
  throw usageError('--per-hour must be a number from 1 to 1000000')
}

function line({ name, perHour, createdAt, expiresAt, lastUsedAt }: ApiTokenView): string {
  const expiry = expiresAt === null ? 'does not expire' : `expires ${moment(expiresAt)}`
  const use = lastUsedAt === null ? 'never used' : `last used ${moment(lastUsedAt)}`
  return `${name}  ${perHour} per hour, created ${moment(createdAt)}, ${expiry}, ${use}\n`
}

function moment(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const commands: readonly Command[] = [tokenAdd, tokenList, tokenRevoke]
