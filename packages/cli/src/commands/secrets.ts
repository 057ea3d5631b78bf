/** `strongroom secrets …`: lists and rotates server secrets, never shows their values. */
import { systemClock } from '@strongroom/platform/clock'
import { listSecretVersions, type SecretVersion } from '@strongroom/kit/secret-versions'
import { serverTable } from '@strongroom/kit/server-table'
import { createSecretService } from '@strongroom/server/secrets/service'
import { requireTables } from '@strongroom/server/tables'
import { createOperatorClientIfRequested } from '../api-client.ts'
import type { Command, CommandInput } from '../command.ts'
import { parseDuration, pluralize } from '../output.ts'
import { withAuditedKms } from '../server/audited-store.ts'
import { withStore } from '../store.ts'

const DEFAULT_OVERLAP = '30d'

const secretsList: Command = {
  name: 'secrets list',
  kind: 'either',
  summary: 'List server secrets: names, versions and ages',
  async run(input) {
    const found = await listSecrets(input)
    input.output.result(found.map(line).join('') || 'There are no secrets yet\n', found)
  },
}

const secretsRotate: Command = {
  name: 'secrets rotate',
  kind: 'either',
  args: 'NAME',
  summary: 'Rotate a server secret',
  options: {
    overlap: {
      value: 'TIME',
      summary: `How long older versions stay valid (${DEFAULT_OVERLAP}); 0s ends them immediately`,
    },
  },
  about: `Running servers notice within a minute, and use the new version after two minutes, when all of them
know it. Older versions stay valid for the overlap after that. With --overlap 0s the new version is
used immediately, and everything made with older ones becomes invalid.`,
  async run(input) {
    const overlapSeconds = parseDuration(
      'overlap',
      String(input.options['overlap'] ?? DEFAULT_OVERLAP),
    )
    const name = input.args[0] ?? ''
    const made = await rotateSecret(input, name, overlapSeconds)
    const until = made.activeFrom + overlapSeconds
    input.output.result(
      `${name} has version ${made.version}, in use from ${moment(made.activeFrom)}; older ones are accepted until ${moment(until)}\n`,
      { ...made, olderAcceptedUntil: until },
    )
  },
}

async function listSecrets(input: CommandInput): Promise<SecretVersion[]> {
  const api = createOperatorClientIfRequested(input, 'server')
  if (api) {
    const { items } = await api<{ items: SecretVersionResponse[] }>('GET', '/secrets')
    return items.map(toSecretVersion)
  }
  return withStore(input, async (store) => {
    await requireTables(store, [serverTable])
    return listSecretVersions(store.db)
  })
}

async function rotateSecret(
  input: CommandInput,
  name: string,
  overlapSeconds: number,
): Promise<SecretVersion> {
  const api = createOperatorClientIfRequested(input, 'server')
  if (api) {
    const path = `/secrets/${encodeURIComponent(name)}/versions`
    return toSecretVersion(await api<SecretVersionResponse>('POST', path, { overlapSeconds }))
  }
  return withAuditedKms(input, ({ store, kms, auditLog, by }) => {
    const on = { db: store.db, key: kms.key, clock: systemClock, auditLog }
    return createSecretService(on).rotate(by, name, overlapSeconds)
  })
}

interface SecretVersionResponse {
  name: string
  version: number
  createdAt: string
  activeFrom: string
  acceptedUntil: string | null
}

function toSecretVersion(response: SecretVersionResponse): SecretVersion {
  const { name, version, createdAt, activeFrom, acceptedUntil } = response
  return {
    name,
    version,
    createdAt: Date.parse(createdAt) / 1000,
    activeFrom: Date.parse(activeFrom) / 1000,
    acceptedUntil: acceptedUntil === null ? undefined : Date.parse(acceptedUntil) / 1000,
  }
}

function line({ name, version, createdAt, acceptedUntil }: SecretVersion): string {
  const days = Math.floor((systemClock.now() / 1000 - createdAt) / 86_400)
  const end = acceptedUntil === undefined ? '' : `, accepted until ${moment(acceptedUntil)}`
  return `${name}  version ${version}, created ${moment(createdAt)} (${pluralize(days, 'day')} ago)${end}\n`
}

function moment(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const commands: readonly Command[] = [secretsList, secretsRotate]
