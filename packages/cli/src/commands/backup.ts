/** `strongroom backup`: the data of the embedded store as one verified file. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { backup } from '@strongroom/engine/backup'
import { openStorage } from '@strongroom/engine/storage/open-storage'
import { operationsTable } from '@strongroom/kit/operations-table'
import { systemClock } from '@strongroom/platform/clock'
import { masterKeyPath } from '@strongroom/server/kms/master-key'
import type { Settings } from '@strongroom/server/settings'
import { createBackupRecord } from '@strongroom/server/status/backup'
import { openStore, requireEmbeddedStore } from '@strongroom/server/store'
import type { Command } from '../command.ts'
import {
  masterKeyAttachment,
  masterKeyChecks,
  configuredData,
  dataOption,
  progressTo,
  summary,
} from '../backup/master-key.ts'

/** Destroyed secrets must not survive in a copy. Under any prefix, because a backup has all deployments. */
const SEALED = 'sealed-secrets'

const backupCommand: Command = {
  name: 'backup',
  kind: 'store',
  args: 'FILE',
  summary: 'Copy the data of the embedded store into a file, also while a server runs',
  options: {
    ...dataOption,
    'with-sealed': {
      summary: `Include ${SEALED}; secrets that are destroyed later remain in the file`,
    },
    'with-master-key': {
      summary: 'Include the master key; anyone with the file then has everything',
    },
  },
  about: 'The file appears when it is complete. It is as sensitive as the data.',
  async run(input) {
    const { configured, directory } = configuredData(input)
    requireEmbeddedStore(directory)
    const file = resolve(input.args[0] ?? '')
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    try {
      const checks = await masterKeyChecks(configured, function* (isIncluded) {
        const included = storage.tables().filter(({ name }) => isIncluded(name))
        for (const table of included) yield* storage.range(table, undefined, {})
      })
      const withMasterKey = input.options['with-master-key'] === true
      const exclude = storage
        .tables()
        .map(({ name }) => name)
        .filter((name) => name.endsWith(SEALED) && input.options['with-sealed'] !== true)
      const { tables, excluded, sha256 } = await backup(storage, {
        file,
        exclude,
        attachments: withMasterKey ? [await masterKeyAttachment(configured, checks)] : [],
        onProgress: progressTo(input.output),
      })
      await recordBackup(configured, directory, file, storage.tables())
      const saveToo = checks.length > 0 && !withMasterKey ? masterKeyPath(configured) : null
      const lines = [
        `${summary(tables)} copied to ${file}`,
        ...excluded.map((name) => `${name} was skipped: --with-sealed includes it`),
        ...(withMasterKey
          ? ['It includes the master key: anyone with the file has everything']
          : []),
        ...(saveToo === null
          ? []
          : [
              `Save ${saveToo} too, elsewhere: without it, nothing that the KMS encrypted can be decrypted`,
            ]),
      ]
      input.output.result(`${lines.join('\n')}\n`, {
        file,
        sha256,
        tables,
        excluded,
        masterKey: withMasterKey,
        saveToo,
      })
    } finally {
      await storage.close()
    }
  },
}

/** For `strongroom status`, which warns if there is no recent one. Stores without the table have no server. */
async function recordBackup(
  configured: Settings,
  directory: string,
  file: string,
  tables: readonly { name: string }[],
): Promise<void> {
  const name = `${configured.STRONGROOM_TABLE_PREFIX}${operationsTable.name}`
  if (!tables.some((table) => table.name === name)) return
  const { size } = await stat(file)
  const store = await openStore({ ...configured, STRONGROOM_DATA: directory }, { mayCreate: false })
  try {
    const at = new Date(systemClock.now()).toISOString()
    await createBackupRecord(store.db).put({ at, bytes: size, file })
  } finally {
    await store.close()
  }
}

export const commands: readonly Command[] = [backupCommand]
