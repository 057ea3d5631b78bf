/** What commands create survives a power failure: the name of each new file and directory is flushed. */
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasStrace, traceNames, unflushedNames } from '../../engine/test/support/name-trace.ts'
import { start } from '../../engine/test/support/programs/harness.ts'
import { emptyDirectory, launcher } from './strongroom.ts'

describe.skipIf(!hasStrace)('a power failure after a command', () => {
  test.each([
    ['keys create', ['keys', 'create'], 'new/data/keys/master.key'],
    ['backup', ['backup', 'copy', '--with-master-key'], 'copy'],
    [
      'restore beside a new master key',
      ['restore', 'copy', '--data', 'other/place'],
      'other/place/keys/master.key',
    ],
    ['kms master-key create', ['kms', 'master-key', 'create', 'a/b/key'], 'a/b/key'],
    ['plugin keygen', ['plugin', 'keygen', '--out', 'release.key'], 'release.key'],
  ])('loses no name that %s created', { timeout: 60_000 }, async (_, args, file) => {
    // Commands share the directory, because a backup needs a store and a restore needs a backup.
    const cwd = await (shared ??= emptyDirectory().then((made) => realpath(made)))
    const trace = join(cwd, `trace-${args[0]}`)
    const data = ['env', `STRONGROOM_DATA=${join(cwd, 'new', 'data')}`, 'STRONGROOM_SERVER=']
    const command = [...traceNames(trace), ...data, process.execPath, launcher, ...args]
    expect(await start(command, { cwd }).ended).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, file))).toBe(true)
    expect(unflushedNames(trace, cwd)).toEqual([])
  })
})

let shared: Promise<string> | undefined
