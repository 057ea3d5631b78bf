import type { Db } from '@strongroom/kit/db'
import { createJobRunner, LEASE_MS } from '@strongroom/kit/jobs/runner'
import { createJobStore } from '@strongroom/kit/jobs/store'
import { createAuditLog } from '@strongroom/kit/audit-log'
import { silentLog } from '@strongroom/kit/log'
import { everyStore } from '@strongroom/kit/testing/stores'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { describe, expect, test } from 'vitest'
import { keyStoreError } from '../../src/errors.ts'
import { createKeyStoreJobs, openBranchKeys } from '../../src/start.ts'
import { TABLE } from '../support/branch-keys.ts'
import { openKeyStoreService } from '../support/open-service.ts'

const DAY = 86_400

describe.each(everyStore())('the job that rotates old branch keys on $name', (store) => {
  const opened = openKeyStoreService(store)
  const by = { actor: 'operator:tester' }
  let made = 0

  async function createKeys(count: number): Promise<string[]> {
    const ids: string[] = []
    for (let number = 0; number < count; number++) {
      const id = `job${made++}`
      await openBranchKeys(opened).create({ id, encryptionContext: { tenant: id } })
      ids.push(id)
    }
    return ids
  }

  async function start(input: object) {
    const jobs = createJobStore(opened)
    const started = await jobs.start({ kind: 'key-store.rotate-keys', input, by })
    if (started.kind !== 'started') throw new Error('A job is running')
    return async () => (await jobs.get(started.job.SK))!
  }

  function createProcess({ db = opened.db, kms = opened.kmsKey.kms } = {}) {
    const deps = { clock: opened.clock, kmsKey: { ...opened.kmsKey, kms } }
    return createJobRunner({
      ...deps,
      db: opened.db,
      log: silentLog,
      startTimer: testTimers(opened.clock).start,
      kinds: createKeyStoreJobs({ ...deps, db }),
    })
  }

  /** Runs processes until the job ends, second by second. */
  async function finish(job: Awaited<ReturnType<typeof start>>, processes = [createProcess()]) {
    while ((await job()).state === 'running') {
      await Promise.all(processes.map(({ runDue }) => runDue()))
      opened.clock.advance({ seconds: 1 })
    }
    return job()
  }

  const versionsOf = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await openBranchKeys(opened).describe(id)).versions.length))

  test('rotates each old key once with an entry in the audit log, at a limited rate', async () => {
    const old = await createKeys(23)
    opened.clock.advance({ days: 100 })
    const young = await createKeys(4)
    const startedAt = opened.clock.now()
    const job = await start({ olderThanSeconds: 90 * DAY, perSecond: 5 })
    const ended = await finish(job)
    expect(ended).toMatchObject({
      state: 'done',
      done: 23,
      total: 23,
      counts: { rotated: 23, young: 4, failed: 0 },
      failures: [],
    })
    // 23 keys at five per second.
    expect(opened.clock.now() - startedAt).toBeGreaterThanOrEqual(4_000)
    expect(await versionsOf(old)).toEqual(old.map(() => 2))
    expect(await versionsOf(young)).toEqual(young.map(() => 1))
    const { items } = await createAuditLog(opened).list({
      action: 'key-store.key.rotated',
      limit: 100,
    })
    expect(items).toHaveLength(old.length)
    expect(new Set(items.map(({ target }) => target))).toEqual(new Set(old))
    expect(items[0]).toMatchObject({ actor: 'operator:tester', outcome: 'done' })
  })

  test('rotates no key twice if its process is killed and others continue', async () => {
    const ids = await createKeys(12)
    opened.clock.advance({ days: 100 })
    const before = await versionsOf(ids)
    const job = await start({ olderThanSeconds: 90 * DAY, perSecond: 50 })
    let rotations = 0
    // Dies in the middle of a step, after the seventh key was written.
    const dying: Db = {
      ...opened.db,
      async transactWriteItems(input) {
        const result = await opened.db.transactWriteItems(input)
        if (++rotations === 7) return new Promise<never>(() => {})
        return result
      },
    }
    void createProcess({ db: dying }).runDue()
    await expect.poll(() => rotations).toBe(7)
    opened.clock.advance({ ms: LEASE_MS })
    const ended = await finish(job, [createProcess(), createProcess(), createProcess()])
    expect(await versionsOf(ids)).toEqual(before.map((count) => count + 1))
    expect(ended).toMatchObject({ state: 'done', done: ended.total })
    expect(ended.counts['rotated']).toBe(ended.done)
  })

  test('rotates no key twice beside a process that lost its lease', async () => {
    const ids = await createKeys(5)
    opened.clock.advance({ days: 100 })
    const before = await versionsOf(ids)
    const job = await start({ olderThanSeconds: 90 * DAY, perSecond: 50 })
    let isStuck = false
    let resume = () => {}
    const { kms } = opened.kmsKey
    const slow = {
      ...kms,
      async reEncrypt(input: Parameters<typeof kms.reEncrypt>[0]) {
        if (!isStuck) {
          isStuck = true
          await new Promise<void>((resolve) => (resume = resolve))
        }
        return kms.reEncrypt(input)
      },
    }
    const first = createProcess({ kms: slow }).runDue()
    await expect.poll(() => isStuck).toBe(true)
    opened.clock.advance({ ms: LEASE_MS })
    await finish(job)
    resume()
    await first
    expect(await versionsOf(ids)).toEqual(before.map((count) => count + 1))
  })

  test('with an age of 0, every key that existed is rotated once', async () => {
    const ids = await createKeys(3)
    const before = await versionsOf(ids)
    const ended = await finish(await start({ olderThanSeconds: 0, perSecond: 50 }))
    expect(ended).toMatchObject({ state: 'done' })
    expect(await versionsOf(ids)).toEqual(before.map((count) => count + 1))
  })

  test('lists keys that cannot be rotated and rotates the others', async () => {
    const [broken = '', unreadable = '', fine = ''] = await createKeys(3)
    opened.clock.advance({ days: 100 })
    await alter(opened.db, broken, { 'aws-crypto-ec:tenant': 'other' })
    await alter(opened.db, unreadable, { enc: 'not bytes' })
    const before = await versionsOf([fine])
    const ended = await finish(await start({ olderThanSeconds: 90 * DAY, perSecond: 50 }))
    expect(ended.counts['failed']).toBe(2)
    expect(ended.failures.toSorted((a, b) => (a.target < b.target ? -1 : 1))).toEqual([
      { target: broken, problem: keyStoreError.entry('not_authentic').message },
      { target: unreadable, problem: expect.stringContaining('Cannot read an item') },
    ])
    expect(await versionsOf([fine])).toEqual(before.map((count) => count + 1))
  })

  test('waits while KMS is unavailable instead of failing every key', async () => {
    await createKeys(2)
    opened.clock.advance({ days: 100 })
    const job = await start({ olderThanSeconds: 90 * DAY, perSecond: 50 })
    const unavailable = {
      ...opened.kmsKey.kms,
      async reEncrypt(): Promise<never> {
        throw Object.assign(new Error('down'), { name: 'KMSInternalException' })
      },
    }
    await createProcess({ kms: unavailable }).runDue()
    expect(await job()).toMatchObject({
      state: 'running',
      problem: keyStoreError.entry('kms_unavailable').message,
    })
    expect((await finish(job)).state).toBe('done')
  })
})

async function alter(db: Db, id: string, changed: Record<string, string>) {
  const Key = { 'branch-key-id': id, type: 'branch:ACTIVE' }
  const { Item: found } = await db.getItem({ TableName: TABLE, Key })
  await db.putItem({ TableName: TABLE, Item: { ...found, ...changed } })
}
