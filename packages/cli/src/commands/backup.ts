/** `strongroom backup` and `restore`: the data of the embedded store as one verified file. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backup, type Progress, restore } from '@strongroom/engine/backup'
import { openStorage } from '@strongroom/engine/storage/open'
import { settings } from '@strongroom/server/settings'
import { StoreUnavailable } from '@strongroom/server/store'
import type { Command, CommandInput, Output } from '../command.ts'

export const backupCommand: Command = {
  name: 'backup',
  args: 'FILE',
  summary: 'Copy the data of the embedded store into a file, also while a server runs',
  options: { data: { value: 'DIR', summary: 'The data directory (STRONGROOM_DATA, ./data)' } },
  about: 'The file appears when it is complete. It is as secret as the data itself.',
  async run(input) {
    const directory = dataDirectory(input)
    if (!existsSync(directory)) {
      throw new StoreUnavailable(
        `There is no data directory ${directory}: set STRONGROOM_DATA or --data`,
      )
    }
    const file = resolve(input.args[0] ?? '')
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    try {
      const { tables, sha256 } = await backup(storage, {
        file,
        onProgress: progressTo(input.output),
      })
      input.output.result(`${summary(tables)} copied to ${file}\n`, { file, sha256, tables })
    } finally {
      await storage.close()
    }
  },
}

export const restoreCommand: Command = {
  name: 'restore',
  args: 'FILE',
  summary: 'Make a data directory from a backup',
  options: { data: { value: 'DIR', summary: 'The data directory (STRONGROOM_DATA, ./data)' } },
  about: 'The backup is verified first. The directory must be empty, or not there.',
  async run(input) {
    const directory = dataDirectory(input)
    const file = resolve(input.args[0] ?? '')
    const { tables } = await restore({ file, directory, onProgress: progressTo(input.output) })
    input.output.result(`${summary(tables)} restored to ${directory}\n`, { directory, tables })
  },
}

function dataDirectory({ options, env }: CommandInput): string {
  const configured = settings.parse(env)
  if (configured.DYNAMODB_ENDPOINT !== undefined || configured.STRONGROOM_STORE === 'aws') {
    throw new StoreUnavailable(
      'Only the embedded store is backed up this way: on DynamoDB use point-in-time recovery or AWS Backup',
    )
  }
  return resolve(String(options['data'] ?? configured.STRONGROOM_DATA))
}

/** A line for each table, and for large ones now and then. */
function progressTo(output: Output): (progress: Progress) => void {
  let told: Progress | undefined
  return ({ table, items }) => {
    if (told?.table === table && items - told.items < 50_000) return
    told = { table, items }
    output.progress(items === 0 ? table : `${table}: ${items} items`)
  }
}

function summary(tables: readonly { items: number }[]): string {
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  return `${tables.length} ${tables.length === 1 ? 'table' : 'tables'} with ${items} ${items === 1 ? 'item' : 'items'}`
}
