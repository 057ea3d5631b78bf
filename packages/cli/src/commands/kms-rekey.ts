/** `strongroom kms rekey`: another master key for the embedded KMS. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { openStorage } from '@strongroom/engine/storage/open'
import { serverTable } from '@strongroom/kit/server-table'
import { masterKeyCheckIn } from '@strongroom/server/kms-keys'
import { KmsUnavailable } from '@strongroom/server/kms'
import { lookAtMasterKey, masterKeyFile } from '@strongroom/server/master-key'
import { type Settings, settings } from '@strongroom/server/settings'
import { type Command, type CommandInput, UsageError } from '../command.ts'
import { newPassphrase } from '../passphrase.ts'
import { requireEmbeddedKms, withEmbeddedKms } from '../with-store.ts'

export const kmsRekey: Command = {
  name: 'kms rekey',
  summary: 'Put a new master key in the place of the present one, which then opens nothing stored',
  options: {
    fd: { value: 'N', summary: 'Read the passphrase of the new one from this file descriptor' },
    'no-passphrase': { summary: 'Keep the new one without a passphrase' },
  },
  about: `For a master key or passphrase that others may know. What is encrypted stays as it is, and opens.
With neither option the new master key has a passphrase, which is asked for, if the present one has.
The old file is kept beside the new one: backups made before need it. Start servers again afterwards.`,
  async run(input) {
    const configured = settings.parse(input.env)
    requireEmbeddedKms(configured)
    await requireOneDeployment(configured)
    await withEmbeddedKms(input, async ({ rekey }) => {
      const passphrase = await passphraseOfNew(input, configured)
      const { keys, old } = await rekey({ passphrase, caller: 'command-line' })
      const file = masterKeyFile(configured)
      const lines = [
        `${file} has a new master key, ${passphrase === undefined ? 'without a passphrase' : 'protected by the passphrase'}; ${keys} ${keys === 1 ? 'key is' : 'keys are'} wrapped by it`,
        `Save it, elsewhere: without it nothing opens what the KMS has encrypted`,
        `The old one is in ${old}: backups made until now need it, nothing else does`,
        'Start every server, worker and "kms serve" again: until then they work with what they have in memory',
      ]
      const protection = passphrase === undefined ? 'none' : 'passphrase'
      input.output.result(`${lines.join('\n')}\n`, { file, protection, old, keys })
    })
  },
}

async function passphraseOfNew(
  { options }: CommandInput,
  configured: Settings,
): Promise<string | undefined> {
  if (options['no-passphrase'] === true) {
    if (options['fd'] !== undefined)
      throw new UsageError('Give either --fd or --no-passphrase, not both')
    return undefined
  }
  if (options['fd'] !== undefined) return newPassphrase(options['fd'])
  const present = await lookAtMasterKey({
    ...configured,
    STRONGROOM_MASTER_KEY_PASSPHRASE: undefined,
  })
  return present?.protection === 'passphrase' ? newPassphrase(undefined) : undefined
}

/** Deployments of other prefixes in the directory may share the master key, and would be left without. */
async function requireOneDeployment(configured: Settings): Promise<void> {
  const directory = resolve(configured.STRONGROOM_DATA)
  if (!existsSync(directory)) return
  const own = configured.STRONGROOM_TABLE_PREFIX + serverTable.name
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  try {
    const checksIn = (table: ReturnType<typeof storage.tables>[number]) =>
      [...storage.range(table, undefined, {})].map(masterKeyCheckIn).filter((check) => check)
    const tables = storage.tables().filter(({ name }) => name.endsWith(serverTable.name))
    const ownChecks = tables
      .filter(({ name }) => name === own)
      .flatMap(checksIn)
      .map(String)
    for (const table of tables) {
      if (table.name === own || !checksIn(table).some((check) => ownChecks.includes(String(check))))
        continue
      throw new KmsUnavailable(
        `The KMS keys in ${table.name} are wrapped by the same master key, and would not open any more: give each deployment a data directory of its own first`,
      )
    }
  } finally {
    await storage.close()
  }
}
