/** `strongroom restore`: restores a data directory from a backup, if the master key matches. */
import { rm } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { restore } from '@strongroom/engine/backup'
import type { BackupManifest } from '@strongroom/engine/storage/backups/backup-file'
import { DataError } from '@strongroom/engine/storage/lmdb/failures'
import { createAuditLog } from '@strongroom/kit/audit-log'
import { serverTable } from '@strongroom/kit/server-table'
import { createPrivate } from '@strongroom/kms/master-key/private-file'
import { systemClock } from '@strongroom/platform/clock'
import { makeDirectory } from '@strongroom/platform/durable-directory'
import { masterKeyPath } from '@strongroom/server/kms/master-key'
import { localActor } from '@strongroom/server/local-actor'
import type { Settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireAuditLog } from '@strongroom/server/tables'
import type { Command } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { reportCreated } from '../store.ts'
import {
  masterKeyPlan,
  type MasterKeyPlan,
  configuredData,
  dataOption,
  progressTo,
  summary,
} from '../backup/master-key.ts'

const restoreCommand: Command = {
  name: 'restore',
  kind: 'store',
  creates: true,
  args: 'FILE',
  summary: 'Restore a backup into a data directory',
  options: dataOption,
  about: `Verifies the backup first, and the master key if one exists already. The directory may contain that
master key and must otherwise be empty or missing. The audit log of the restored store says that it
was restored, and by whom.`,
  async run(input) {
    const { configured, directory } = configuredData(input)
    const file = resolve(input.args[0] ?? '')
    const keyFile = masterKeyPath(configured)
    let plan = { action: 'none' } as MasterKeyPlan
    let undo = async () => {}
    try {
      const { tables } = await restore({
        file,
        directory,
        beside: nameInside(directory, keyFile),
        onProgress: progressTo(input.output),
        async onVerified() {
          plan = await masterKeyPlan(file, configured, askMasterKeyPassphrase(input))
          if (plan.action === 'write') undo = await writeMasterKey(keyFile, plan.line)
        },
        onRestored: (staging, manifest) => recordRestore(configured, staging, manifest),
      })
      reportCreated(input.output)(directory)
      input.output.result(
        `${summary(tables)} restored to ${directory}\n${masterKeyText(plan, keyFile)}`,
        {
          directory,
          tables,
          masterKey: { file: keyFile, restored: plan.action === 'write' },
          putMasterKeyThere: plan.action === 'put there',
        },
      )
    } catch (error) {
      await undo()
      throw error
    }
  },
}

/** The entry appears together with the store. Data that has no server, such as test tables, gets none. */
async function recordRestore(
  configured: Settings,
  STRONGROOM_DATA: string,
  { createdAt, tables }: BackupManifest,
): Promise<void> {
  const servers = tables.filter(({ name }) => name.endsWith(serverTable.name))
  for (const { name } of servers) {
    const STRONGROOM_TABLE_PREFIX = name.slice(0, -serverTable.name.length)
    const own = { ...configured, STRONGROOM_DATA, STRONGROOM_TABLE_PREFIX }
    const store = await openStore(own, { mayCreate: false })
    try {
      await requireAuditLog(store)
      await createAuditLog({ db: store.db, clock: systemClock }).record({
        ...localActor(),
        action: 'server.store.restored',
        after: { backupOf: new Date(createdAt).toISOString() },
      })
    } finally {
      await store.close()
    }
  }
}

function masterKeyText({ action }: MasterKeyPlan, keyFile: string): string {
  if (action === 'write') return `The master key is in ${keyFile}\n`
  if (action === 'none') return ''
  return `Put the master key of this backup into ${keyFile} before you start the server: without it, nothing that the KMS encrypted can be decrypted\n`
}

/** Returns a function that undoes it. */
async function writeMasterKey(keyFile: string, line: string): Promise<() => Promise<void>> {
  try {
    const made = makeDirectory(dirname(keyFile))
    await createPrivate(keyFile, line)
    return () => rm(made ?? keyFile, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DataError(`Cannot write the master key to "${keyFile}": ${reason}`, { cause: error })
  }
}

/** The entry of the data directory that contains the master key, if it is in there. */
function nameInside(directory: string, keyFile: string): string[] {
  const path = relative(directory, keyFile)
  const [name = ''] = path.split(sep)
  return isAbsolute(path) || name === '..' ? [] : [name]
}

export const commands: readonly Command[] = [restoreCommand]
