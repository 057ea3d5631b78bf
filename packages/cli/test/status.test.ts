import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimFirstAdmin } from './first-admin.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

describe('strongroom status', () => {
  let server: Running
  let url: string
  let token: string
  let cwd: string

  beforeAll(async () => {
    cwd = await emptyDirectory()
    server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    const printed = await server.until('\n}\n')
    ;({ url } = JSON.parse(printed) as { url: string })
    token = await claimFirstAdmin(printed)
  })
  afterAll(() => server.process.kill('SIGKILL'))

  const run = (...more: string[]) =>
    inProcess(['status', '--server', url, ...more], { cwd, env: { STRONGROOM_TOKEN: token } })

  test('has the last backup after the command has made one, also while the server runs', async () => {
    const file = join(cwd, 'one.backup')
    const made = await inProcess(['backup', file], { cwd })
    expect(made.code).toBe(0)
    const { storage, ...found } = JSON.parse((await run('--json')).stdout)
    expect(found.backup).toEqual({ at: expect.any(String), bytes: expect.any(Number), file })
    expect(found.backup.bytes).toBeGreaterThan(100)
    expect(storage.bytes).toBeGreaterThan(0)
    expect(storage.freeBytes).toBeGreaterThan(0)
    const failed = await inProcess(['backup', join(cwd, 'missing', 'two.backup')], { cwd })
    expect(failed.code).toBe(1)
    expect(JSON.parse((await run('--json')).stdout).backup).toEqual(found.backup)
  })

  test('shows services, processes, disk and backup, and succeeds without problems', async () => {
    const { code, stdout } = await run()
    expect(code).toBe(0)
    for (const line of [
      /^Ferryhook +ready +Nothing overdue, no connection failing$/m,
      /^Key store +ready +0 branch keys$/m,
      /^Work +0 due, 0 overdue, 0 waiting$/m,
      /^Processes +server \S+ seen .+$/m,
      /^Disk +.+ used by the store, .+ free$/m,
      /^Last backup +.+one\.backup$/m,
      /^Recovery +back to .+$/m,
    ]) {
      expect(stdout).toMatch(line)
    }
  })

  test('needs a token', async () => {
    const { code, stderr } = await inProcess(['status', '--server', url], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('STRONGROOM_TOKEN')])
  })
})
