import { epochSeconds } from '@strongroom/platform/clock'
import { describe, expect, test, beforeAll, afterAll } from 'vitest'
import * as z from 'zod'
import type { Db } from '../src/db.ts'
import { jobError, type JobKind, type JobStep } from '../src/jobs/kind.ts'
import { createJobRunner, LEASE_MS, MAX_ATTEMPTS, POLL_MS } from '../src/jobs/runner.ts'
import { createJobStore, FILE_RETENTION_SECONDS } from '../src/jobs/store.ts'
import { silentLog } from '../src/log.ts'
import { operationsTable } from '../src/operations-table.ts'
import { createTables } from '../src/tables.ts'
import { everyStore } from '../src/testing/stores.ts'
import { type TestClock, testClock } from '../src/testing/test-clock.ts'
import { testTimers } from '../src/testing/test-timers.ts'

interface Count {
  at: number
}

describe.each(everyStore())('jobs on $name', (opened) => {
  let db: Db
  let close: () => Promise<void>
  let made = 0
  beforeAll(async () => {
    ;({ db, close } = await opened.open())
    await createTables(db, [operationsTable])
  })
  afterAll(() => close())

  const by = { actor: 'operator:tester', address: '192.0.2.1' }

  /** A kind of its own for each test: counts to `to`, one number per step. */
  function counting(runStep?: JobKind<{ to: number }, Count>['runStep']) {
    const steps: number[] = []
    const kind: JobKind<{ to: number }, Count> = {
      name: `test.count-${made++}`,
      summary: 'Count',
      role: 'editor',
      input: z.strictObject({ to: z.int() }),
      runStep:
        runStep ??
        (async ({ input, position }) => {
          const at = (position?.at ?? 0) + 1
          steps.push(at)
          return stepTo(at, input.to)
        }),
    }
    return { kind, steps }
  }

  const stepTo = (at: number, to: number): JobStep<Count> => ({
    position: at < to ? { at } : undefined,
    done: at,
    total: to,
    counts: { counted: 1 },
  })

  function process(kind: JobKind, clock: TestClock) {
    const timers = testTimers(clock)
    const deps = { db, clock, log: silentLog, startTimer: timers.start, kinds: [kind] }
    return { ...createJobRunner(deps), timers }
  }

  async function start(kind: JobKind, clock: TestClock, input: object = { to: 3 }) {
    const store = createJobStore({ db, clock })
    const started = await store.start({ kind: kind.name, input, by })
    if (started.kind !== 'started') throw new Error('A job is running')
    return { store, id: started.job.SK, job: async () => store.get(started.job.SK) }
  }

  test('a job runs step by step until it is done', async () => {
    const clock = testClock()
    const { kind, steps } = counting()
    const { job, id } = await start(kind, clock)
    await process(kind, clock).runDue()
    expect(steps).toEqual([1, 2, 3])
    expect(await job()).toEqual({
      PK: 'JOBS',
      SK: id,
      kind: kind.name,
      state: 'done',
      input: '{"to":3}',
      done: 3,
      total: 3,
      counts: { counted: 3 },
      failures: [],
      chunks: 0,
      bytes: 0,
      createdAt: '2100-01-01T00:00:00.000Z',
      createdBy: 'operator:tester',
      address: '192.0.2.1',
      updatedAt: '2100-01-01T00:00:00.000Z',
      endedAt: '2100-01-01T00:00:00.000Z',
      attempts: 0,
      expiresAt: epochSeconds(clock) + 30 * 86_400,
    })
  })

  test('while a job of a kind runs, no other one can be started', async () => {
    const clock = testClock()
    const { kind } = counting()
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () =>
        createJobStore({ db, clock }).start({ kind: kind.name, input: { to: 1 }, by }),
      ),
    )
    const started = outcomes.flatMap((outcome) =>
      outcome.kind === 'started' ? outcome.job.SK : [],
    )
    expect(started).toHaveLength(1)
    expect(outcomes.filter(({ kind: each }) => each === 'running')).toEqual(
      Array.from({ length: 4 }, () => ({ kind: 'running', id: started[0] })),
    )
    await process(kind, clock).runDue()
    await expect(start(kind, clock)).resolves.toBeDefined()
  })

  test('of several processes exactly one runs each step', async () => {
    const clock = testClock()
    const { kind, steps } = counting()
    const { job } = await start(kind, clock, { to: 20 })
    const processes = Array.from({ length: 4 }, () => process(kind, clock))
    while ((await job())?.state === 'running') {
      await Promise.all(processes.map(({ runDue }) => runDue()))
    }
    expect(steps).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    expect(await job()).toMatchObject({ state: 'done', counts: { counted: 20 } })
  })

  test('after a process was killed, another one continues from the last stored step', async () => {
    const clock = testClock()
    const seen: (number | undefined)[] = []
    let isKilled = true
    const { kind } = counting(async ({ input, position }) => {
      seen.push(position?.at)
      // A killed process never returns.
      if (position?.at === 2 && isKilled) return new Promise<never>(() => {})
      return stepTo((position?.at ?? 0) + 1, input.to)
    })
    const { job } = await start(kind, clock, { to: 4 })
    void process(kind, clock).runDue()
    await expect.poll(() => seen.length).toBe(3)
    isKilled = false
    const other = process(kind, clock)
    await other.runDue()
    expect(seen).toHaveLength(3)
    clock.advance({ ms: LEASE_MS })
    await other.runDue()
    expect(seen).toEqual([undefined, 1, 2, 2, 3])
    expect(await job()).toMatchObject({ state: 'done', done: 4, counts: { counted: 4 } })
  })

  test('a process that lost its lease stores nothing', async () => {
    const clock = testClock()
    let release = () => {}
    let calls = 0
    const { kind } = counting(async ({ input, position }) => {
      calls++
      if (calls === 1) await new Promise<void>((resolve) => (release = resolve))
      return { ...stepTo((position?.at ?? 0) + 1, input.to), counts: { [`call${calls}`]: 1 } }
    })
    const { job } = await start(kind, clock, { to: 1 })
    const slow = process(kind, clock).runDue()
    await expect.poll(() => calls).toBe(1)
    clock.advance({ ms: LEASE_MS })
    await process(kind, clock).runDue()
    release()
    await slow
    expect(await job()).toMatchObject({ state: 'done', counts: { call2: 1 } })
  })

  test('a cancelled job ends after its current step', async () => {
    const clock = testClock()
    const { kind } = counting(async ({ position, input }) => {
      const at = (position?.at ?? 0) + 1
      if (at === 2) await store.cancel(id, { actor: 'operator:other' }, db)
      return stepTo(at, input.to)
    })
    const { store, job, id } = await start(kind, clock, { to: 10 })
    await process(kind, clock).runDue()
    expect(await job()).toMatchObject({
      state: 'cancelled',
      done: 2,
      cancelledBy: 'operator:other',
      endedAt: expect.any(String),
    })
    await expect(store.cancel(id, by, db)).rejects.toThrow(jobError('ended').message)
    await expect(start(kind, clock)).resolves.toBeDefined()
  })

  test('a job that waits for its next step is cancelled immediately', async () => {
    const clock = testClock()
    const { kind } = counting(async () => ({ ...stepTo(1, 2), waitMs: 3_600_000 }))
    const { store, job, id } = await start(kind, clock)
    expect(await process(kind, clock).runDue()).toBe(clock.now() + 3_600_000)
    await store.cancel(id, by, db)
    await process(kind, clock).runDue()
    expect(await job()).toMatchObject({ state: 'cancelled', done: 1 })
  })

  test('a failed step is repeated later, and after many attempts the job fails', async () => {
    const clock = testClock()
    let attempts = 0
    const { kind } = counting(async () => {
      attempts++
      throw new Error('secret detail')
    })
    const { job } = await start(kind, clock)
    const runner = process(kind, clock)
    const nextAt = await runner.runDue()
    expect(nextAt).toBe(clock.now() + 1_000)
    expect(await job()).toMatchObject({
      state: 'running',
      problem: 'An internal error. See the log of the server.',
    })
    await runner.runDue()
    expect(attempts).toBe(1)
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      clock.advance({ minutes: 1 })
      await runner.runDue()
    }
    expect(attempts).toBe(MAX_ATTEMPTS)
    expect(await job()).toMatchObject({ state: 'failed', endedAt: expect.any(String) })
  })

  test('a step that keeps stopping its process fails the job', async () => {
    const clock = testClock()
    let starts = 0
    const { kind } = counting(async () => {
      starts++
      return new Promise<never>(() => {})
    })
    const { job } = await start(kind, clock)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      void process(kind, clock).runDue()
      await expect.poll(() => starts).toBe(attempt)
      clock.advance({ ms: LEASE_MS })
    }
    await process(kind, clock).runDue()
    expect(starts).toBe(MAX_ATTEMPTS)
    expect(await job()).toMatchObject({ state: 'failed' })
  })

  test('a file is stored in chunks, which expire', async () => {
    const clock = testClock()
    const MEGABYTE = new Uint8Array(1024 * 1024).fill(7)
    const { kind } = counting(async () => ({ ...stepTo(1, 1), output: MEGABYTE }))
    const { store, job, id } = await start(kind, clock)
    await process(kind, clock).runDue()
    const ended = await job()
    if (!ended) throw new Error('The job is missing')
    expect(ended).toMatchObject({ state: 'done', chunks: 4, bytes: MEGABYTE.length })
    const parts: Uint8Array[] = []
    for await (const part of store.readFile(ended)) parts.push(part)
    expect(Buffer.concat(parts).equals(MEGABYTE)).toBe(true)
    expect(
      (
        await db.getItem({
          TableName: operationsTable.name,
          Key: { PK: `JOB#${id}`, SK: 'CHUNK#0003' },
        })
      ).Item,
    ).toEqual({
      PK: `JOB#${id}`,
      SK: 'CHUNK#0003',
      data: MEGABYTE.subarray(0, 256 * 1024),
      expiresAt: epochSeconds(clock) + FILE_RETENTION_SECONDS,
    })
    clock.advance({ days: 7 })
    await expect(store.readFile(ended).next()).rejects.toThrow(jobError('no_result').message)
  })

  test('a file that is too large fails the job', async () => {
    const clock = testClock()
    const { kind } = counting(async () => ({
      ...stepTo(1, 2),
      output: new Uint8Array(257 * 1024 * 1024),
    }))
    const { job } = await start(kind, clock)
    // Only the number of chunks matters, so they are not stored.
    const withoutChunks: Db = {
      ...db,
      putItem: async (input) =>
        String(input.Item['SK']).startsWith('CHUNK#') ? {} : db.putItem(input),
    }
    const deps = { clock, log: silentLog, startTimer: testTimers(clock).start, kinds: [kind] }
    await createJobRunner({ ...deps, db: withoutChunks }).runDue()
    expect(await job()).toMatchObject({
      state: 'failed',
      problem: jobError('output_too_large').message,
    })
  })

  test('a job lists the first failures and counts all of them', async () => {
    const clock = testClock()
    const { kind } = counting(async () => ({
      ...stepTo(1, 1),
      counts: { failed: 60 },
      failures: Array.from({ length: 60 }, (_, at) => ({
        target: `key-${at}`,
        problem: 'x'.repeat(1_000),
      })),
    }))
    const { job } = await start(kind, clock)
    await process(kind, clock).runDue()
    const ended = await job()
    expect(ended?.counts).toEqual({ failed: 60 })
    expect(ended?.failures).toHaveLength(50)
    expect(ended?.failures[0]?.problem).toHaveLength(300)
  })

  test('a job is found for 30 days after it ended', async () => {
    const clock = testClock()
    const { kind } = counting()
    const { store, job, id } = await start(kind, clock)
    clock.advance({ days: 100 })
    expect(await job()).toMatchObject({ state: 'running' })
    await process(kind, clock).runDue()
    clock.advance({ days: 29 })
    expect((await store.list({ limit: 100 })).items.map(({ SK }) => SK)).toContain(id)
    clock.advance({ days: 1 })
    expect(await job()).toBeUndefined()
    expect((await store.list({ limit: 100 })).items.map(({ SK }) => SK)).not.toContain(id)
    await expect(store.cancel(id, by, db)).rejects.toThrow(jobError('not_found').message)
  })

  test('a started process polls, and continues at the time that a step asked for', async () => {
    const clock = testClock()
    const { kind, steps } = counting()
    const { runStep } = kind
    kind.runStep = async (job) => ({ ...(await runStep(job)), waitMs: 2_000 })
    const runner = process(kind, clock)
    runner.start()
    const { job } = await start(kind, clock)
    await runner.timers.pass({ ms: POLL_MS - 1 })
    expect(steps).toEqual([])
    runner.wake()
    await expect.poll(() => steps).toEqual([1])
    await runner.timers.until(
      (async () => {
        while ((await job())?.state === 'running') await new Promise(setImmediate)
      })(),
    )
    expect(steps).toEqual([1, 2, 3])
    await runner.close()
  })
})
