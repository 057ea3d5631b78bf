/** `strongroom check`: whether a data directory is damaged, and what to do. */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  checkDirectory,
  type CheckedTable,
  type CheckProgress,
  type DirectoryReport,
} from '@strongroom/engine/storage/check/directory'
import type { Problem } from '@strongroom/engine/storage/check/problems'
import { Failure } from '@strongroom/kit/errors'
import { MasterKeyError } from '@strongroom/kms/master-key/errors'
import { inspectMasterKey, masterKeyPath } from '@strongroom/server/kms/master-key'
import { kmsKind } from '@strongroom/server/kms/open'
import { type Settings, settings } from '@strongroom/server/settings'
import { requireEmbeddedStore, storeKind } from '@strongroom/server/store'
import { dataOption, fits, masterKeyChecks } from '../backup/master-key.ts'
import type { Command, CommandInput, Output } from '../command.ts'
import { columns, escapeControls, pluralize } from '../output.ts'

interface Result extends Omit<Problem, 'kind' | 'remedy'> {
  kind: Problem['kind'] | 'master-key'
  remedy: Problem['remedy'] | 'master-key'
}

/** What to do for each remedy, with the most serious one first. */
const ADVICE: Readonly<Record<Result['remedy'], string>> = {
  restore:
    'Data is lost. Keep a copy of the directory, then restore the newest backup into a new directory with "strongroom restore".',
  rebuild:
    'Items are intact. Make a backup and restore it into a new directory: that rebuilds everything else. It ends streams, and drops the history for recovery and backups made by CreateBackup.',
  access: 'Run the command as the user that runs the server.',
  upgrade: 'Use the version that wrote the directory, or a newer one.',
  start: 'Start the server, which converts the directory, then stop it and check again.',
  'master-key':
    'Put the right master key in its place. Without it, nothing that the KMS encrypted can be decrypted.',
}

const check: Command = {
  name: 'check',
  kind: 'store',
  summary: 'Check the data directory of the embedded store for damage',
  options: dataOption,
  about: `Checks the file, its pages, items, index and TTL entries, logs of changes, backups, jobs, counts and the
master key, and changes nothing. Stop every server and worker first. Exits with 1 if something is damaged.`,
  async run(input) {
    const { configured, directory } = configuredDirectory(input)
    if (!isDenied(directory)) requireEmbeddedStore(directory)
    const keys: Result[] = []
    const report = await checkDirectory(directory, {
      onProgress: progressTo(input.output),
      onReadable: async (tables) => void keys.push(...(await checkMasterKey(configured, tables))),
    })
    const problems: Result[] = [...report.problems, ...keys]
    const isSound = problems.length === 0
    const remedies = Object.entries(ADVICE).filter(([name]) =>
      problems.some(({ remedy }) => remedy === name),
    )
    const advice = remedies.map(([, sentence]) => sentence)
    const { problems: _problems, format = null, ...counts } = report
    input.output.result(resultText(directory, report, problems, advice), {
      directory,
      sound: isSound,
      format,
      ...counts,
      findings: problems,
      advice,
    })
    return isSound ? 0 : 1
  },
}

function configuredDirectory({ env, options: { data } }: CommandInput): {
  configured: Settings
  directory: string
} {
  const configured = settings.parse(
    typeof data === 'string' ? { ...env, STRONGROOM_DATA: data } : env,
  )
  if (typeof data === 'string' || storeKind(configured) === 'embedded') {
    return { configured, directory: resolve(configured.STRONGROOM_DATA) }
  }
  throw new Failure(
    'failed',
    'This command checks the embedded store, but another one is configured: pass --data DIR to check a directory',
  )
}

/** The check says so; otherwise it would seem that there is no store. */
function isDenied(directory: string): boolean {
  try {
    readdirSync(directory)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES'
  }
}

/** As far as that is possible without its passphrase. */
async function checkMasterKey(
  configured: Settings,
  tables: readonly CheckedTable[],
): Promise<Result[]> {
  if (kmsKind(configured) !== 'embedded') return []
  const damaged = (message: string): Result[] => [
    { kind: 'master-key', message, remedy: 'master-key' },
  ]
  const checks = await masterKeyChecks(configured, function* (isIncluded) {
    for (const { name, items } of tables) if (isIncluded(name)) yield* items()
  })
  const file = masterKeyPath(configured)
  try {
    const found = await inspectMasterKey(configured)
    if (found === undefined) {
      return checks.length === 0 ? [] : damaged(`The master key file "${file}" is missing`)
    }
    if (found.masterKey === undefined || fits(found.masterKey, checks)) return []
    return damaged(`The KMS keys were created with another master key than the one in "${file}"`)
  } catch (error) {
    if (error instanceof MasterKeyError) return damaged(error.message)
    throw error
  }
}

const PROGRESS_STEPS = 10

/** Prints a line for every tenth of a large directory. */
function progressTo(output: Output): (progress: CheckProgress) => void {
  let printed = ''
  return ({ what, done, total }) => {
    const step = Math.min(PROGRESS_STEPS, Math.floor((PROGRESS_STEPS * done) / Math.max(1, total)))
    const line = `${what}: ${(100 * step) / PROGRESS_STEPS} %`
    if (line !== printed) output.progress(line)
    printed = line
  }
}

function resultText(
  directory: string,
  { pages, items, entries, changes }: DirectoryReport,
  problems: readonly Result[],
  advice: readonly string[],
): string {
  const counts = [
    pluralize(pages, 'page'),
    pluralize(items, 'item'),
    pluralize(entries, 'index entry', 'index entries'),
    pluralize(changes, 'change'),
  ]
  const checked = `Checked ${counts.join(', ')} in ${directory}\n`
  if (problems.length === 0) return `${checked}Nothing is damaged\n`
  const rows = problems.map(({ kind, message }) => [kind, escapeControls(message)])
  return `${checked}${columns(rows)}\n${advice.join('\n')}\n`
}

export const commands: readonly Command[] = [check]
