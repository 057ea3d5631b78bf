/** `strongroom api-keys …`: the API keys of a Ferryhook account, with one of its admin keys. */
import { systemClock } from '@strongroom/platform/clock'
import type { ApiClient } from '../api-client.ts'
import { type Command, usageError } from '../command.ts'
import { createFerryhookClient, ferryhookOptions, parseAccess } from '../ferryhook/api.ts'
import { findByName } from '../ferryhook/find.ts'
import type { ApiKey, Page } from '../ferryhook/views.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'

const PERMISSIONS = ['read', 'write', 'admin']
const DEFAULT_PERMISSION = 'read'
const adminHelp = 'FERRYHOOK_API_KEY must have the permission admin.'

const apiKeysList: Command = {
  name: 'api-keys list',
  kind: 'client',
  summary: 'List API keys of the account: permission and last use',
  options: ferryhookOptions,
  about: `${adminHelp} The keys themselves are not stored; PREFIX is how they begin after fh_live_.`,
  async run(input) {
    const keys = await listKeys(createFerryhookClient(parseAccess(input)))
    const now = systemClock.now()
    const head = ['ID', 'NAME', 'PREFIX', 'PERMISSION', 'LAST USED', 'CREATED']
    const rows = keys.map(({ id, name, prefix, permissions, lastUsedAt, createdAt }) => [
      id,
      escapeControls(name),
      prefix,
      permissions,
      lastUsedAt === null ? 'never' : formatRelative(lastUsedAt, now),
      formatRelative(createdAt, now),
    ])
    input.output.result(columns([head, ...rows]), keys)
  },
}

const apiKeysCreate: Command = {
  name: 'api-keys create',
  kind: 'client',
  args: 'NAME',
  summary: 'Create an API key and print it (shown once)',
  options: {
    permission: {
      value: 'PERMISSION',
      summary: `One of ${PERMISSIONS.join(', ')}; each includes those before it (${DEFAULT_PERMISSION})`,
    },
    ...ferryhookOptions,
  },
  about: adminHelp,
  async run(input) {
    const [name = ''] = input.args
    const permissions = String(input.options['permission'] ?? DEFAULT_PERMISSION)
    if (!PERMISSIONS.includes(permissions)) {
      throw usageError(`--permission must be one of ${PERMISSIONS.join(', ')}`)
    }
    const api = createFerryhookClient(parseAccess(input))
    const made = await api<ApiKey & { key: string }>('POST', '/api-keys', { name, permissions })
    input.output.result(`${made.key}\n`, made)
  },
}

const apiKeysRevoke: Command = {
  name: 'api-keys revoke',
  kind: 'client',
  args: 'KEY',
  summary: 'Revoke an API key; requests with it are refused immediately',
  options: ferryhookOptions,
  about: `KEY is an id, or a unique name, never the key itself. ${adminHelp}`,
  // Somebody may paste the key.
  secretArgs: true,
  async run(input) {
    const [given = ''] = input.args
    if (given.startsWith('fh_live_')) {
      throw usageError('KEY must be the id or the name: see "strongroom api-keys list"')
    }
    const api = createFerryhookClient(parseAccess(input))
    const all = await listKeys(api)
    const { id, name } = all.find((key) => key.id === given) ?? findByName('API key', given, all)
    await api('DELETE', `/api-keys/${encodeURIComponent(id)}`)
    input.output.result(`${escapeControls(name)} was revoked\n`, { id, name, revoked: true })
  },
}

async function listKeys(api: ApiClient): Promise<ApiKey[]> {
  return (await api<Page<ApiKey>>('GET', '/api-keys')).items
}

export const commands: readonly Command[] = [apiKeysList, apiKeysCreate, apiKeysRevoke]
