/** `strongroom kms rekey`: replaces the master key of the embedded KMS. */
import { Failure } from '@strongroom/kit/errors'
import { resolve } from 'node:path'
import { openStorage } from '@strongroom/engine/storage/open-storage'
import { serverTable } from '@strongroom/kit/server-table'
import { findMasterKeyCheck } from '@strongroom/server/kms/key-storage'
import { inspectMasterKey, masterKeyPath } from '@strongroom/server/kms/master-key'
import { type Settings, settings } from '@strongroom/server/settings'
import { requireEmbeddedStore } from '@strongroom/server/store'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { newPassphrase } from '../input.ts'
import { withAuditedEmbeddedKms } from '../server/audited-store.ts'
import { requireEmbeddedKms } from '../store.ts'

export const kmsRekey: Command = {
  name: 'kms rekey',
  kind: 'store',
  summary: 'Replace the master key and re-wrap all keys',
  options: {
    fd: {
      value: 'N',
      summary: 'Read the passphrase of the new master key from this file descriptor',
    },
    'no-passphrase': { summary: 'Create the new master key without a passphrase' },
  },
  about: `Use it when others may know the master key or its passphrase. Encrypted data stays unchanged.
Without either option, asks for a new passphrase if the current master key has one. The old file
stays beside the new one, because earlier backups need it. Restart servers afterwards.`,
  async run(input) {
    const configured = settings.parse(input.env)
    requireEmbeddedKms(configured)
    await requireOneDeployment(configured)
    await withAuditedEmbeddedKms(input, async ({ auditLog, by, embedded }) => {
      const passphrase = await chooseNewPassphrase(input, configured)
      const change = { ...by, action: 'kms.master_key.replaced' }
      const { keys, old } = await auditLog.around(change, () =>
        embedded.rekey({ passphrase, caller: 'command-line' }),
      )
      const file = masterKeyPath(configured)
      const lines = [
        `${file} has a new master key, ${passphrase === undefined ? 'without a passphrase' : 'protected by the passphrase'}; ${keys} ${keys === 1 ? 'key is' : 'keys are'} wrapped by it`,
        'Save a copy elsewhere: without it, nothing that the KMS encrypted can be decrypted',
        `The old one is in ${old}: only backups made until now need it`,
        'Restart every server, worker and "kms serve": until then they use the keys that they have in memory',
      ]
      const protection = passphrase === undefined ? 'none' : 'passphrase'
      input.output.result(`${lines.join('\n')}\n`, { file, protection, old, keys })
    })
  },
}

async function chooseNewPassphrase(
  { options }: CommandInput,
  configured: Settings,
): Promise<string | undefined> {
  if (options['no-passphrase'] === true) {
    if (options['fd'] !== undefined)
      throw usageError('Use either --fd or --no-passphrase, not both')
    return undefined
  }
  if (options['fd'] !== undefined) return newPassphrase(options['fd'])
  const current = await inspectMasterKey({
    ...configured,
    STRONGROOM_MASTER_KEY_PASSPHRASE: undefined,
  })
  return current?.protection === 'passphrase' ? newPassphrase(undefined) : undefined
}

/** Deployments with other prefixes in the directory may share the master key, and would lose it. */
async function requireOneDeployment(configured: Settings): Promise<void> {
  const directory = resolve(configured.STRONGROOM_DATA)
  requireEmbeddedStore(directory)
  const own = configured.STRONGROOM_TABLE_PREFIX + serverTable.name
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  try {
    const checksIn = (table: ReturnType<typeof storage.tables>[number]) =>
      [...storage.range(table, undefined, {})].map(findMasterKeyCheck).filter((check) => check)
    const tables = storage.tables().filter(({ name }) => name.endsWith(serverTable.name))
    const ownChecks = tables
      .filter(({ name }) => name === own)
      .flatMap(checksIn)
      .map(String)
    for (const table of tables) {
      if (table.name === own || !checksIn(table).some((check) => ownChecks.includes(String(check))))
        continue
      throw new Failure(
        'failed',
        `The KMS keys in ${table.name} are wrapped by the same master key and could no longer be opened: give each deployment its own data directory first`,
      )
    }
  } finally {
    await storage.close()
  }
}
