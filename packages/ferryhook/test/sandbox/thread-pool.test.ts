import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createFairQueue } from '../../src/sandbox/fair-queue.ts'
import {
  createThreadPool,
  type JobResult,
  type ThreadPool,
  type ThreadPoolOptions,
} from '../../src/sandbox/thread-pool.ts'
import { manualTimers } from '../support/manual-timers.ts'

/** Follows its jobs: replies, waits forever, or dies. */
const code = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (job) => {
    if (job === 'die') process.exit(1)
    if (job === 'throw') throw new Error('no')
    if (job === 'hog') for (const all = []; ; ) all.push(new Array(1e5).fill({}))
    if (job === 'hang') for (;;);
    if (job === 'env') return parentPort.postMessage(Object.keys(process.env))
    if (typeof job !== 'string' || !job.startsWith('never')) parentPort.postMessage(job)
  })
  parentPort.postMessage('ready')
`

const timers = manualTimers()
const pools: ThreadPool<unknown, unknown>[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function openPool(options: Partial<ThreadPoolOptions> = {}): ThreadPool<unknown, unknown> {
  const pool = createThreadPool<unknown, unknown>({
    code: () => Promise.resolve(code),
    threads: 2,
    threadsPerOwner: 2,
    queue: { total: 10, perOwner: 10 },
    timeoutMs: 1_000,
    startTimer: timers.start,
    ...options,
  })
  pools.push(pool)
  return pool
}

async function failureOf(job: Promise<JobResult<unknown>>): Promise<unknown> {
  const done = await job
  return done.kind === 'failed' ? done.failure : done
}

async function resultOf(job: Promise<JobResult<unknown>>): Promise<unknown> {
  const done = await job
  return done.kind === 'done' ? done.result : done
}

test('each of many jobs gets its own result', async () => {
  const pool = openPool({ queue: { total: 100, perOwner: 100 } })
  const jobs = Array.from({ length: 50 }, (_, index) => ({ index }))
  expect(await Promise.all(jobs.map((job) => resultOf(pool.run(job))))).toEqual(jobs)
})

test.each(['die', 'throw', 'hog'])('a thread that dies (%s) is replaced', async (death) => {
  const pool = openPool({ threads: 1 })
  const [dead, after] = [failureOf(pool.run(death)), resultOf(pool.run('after'))]
  expect(await dead).toBe('crashed')
  expect(await after).toBe('after')
})

test('a thread that hangs is terminated after the timeout, and replaced', async () => {
  const pool = openPool({ threads: 1 })
  expect(await resultOf(pool.run('before'))).toBe('before')
  const [hung, after] = [failureOf(pool.run('hang')), resultOf(pool.run('after'))]
  await timers.fire(1_000)
  expect(await hung).toBe('unresponsive')
  expect(await after).toBe('after')
})

test('the timeout does not start while a thread is starting', async () => {
  const pool = openPool({ threads: 1 })
  const job = resultOf(pool.run('first'))
  await setImmediate()
  expect(timers.pending()).toBe(0)
  expect(await job).toBe('first')
  expect(timers.pending()).toBe(0)
})

test('code that cannot be run fails its jobs one by one', async () => {
  const pool = openPool({ threads: 1, code: () => Promise.resolve('this is no code') })
  const jobs = [1, 2, 3].map((job) => failureOf(pool.run(job)))
  expect(await Promise.all(jobs)).toEqual(['crashed', 'crashed', 'crashed'])
})

test('a thread does not see the environment of the process', async () => {
  expect(await resultOf(openPool().run('env'))).toEqual([])
})

describe('an owner', () => {
  test('with too many jobs is rejected without affecting others', async () => {
    const pool = openPool({ threads: 1, queue: { total: 3, perOwner: 2 } })
    const started = failureOf(pool.run('never', 'a'))
    const waiting = [1, 2].map(() => failureOf(pool.run('a', 'a')))
    expect(await failureOf(pool.run('a', 'a'))).toBe('overloaded')
    const other = failureOf(pool.run('b', 'b'))
    expect(await failureOf(pool.run('c', 'c'))).toBe('overloaded')
    await pool.close()
    expect(await Promise.all([started, ...waiting, other])).toEqual(Array(4).fill('closed'))
  })

  test('never occupies all threads', async () => {
    const pool = openPool({ threads: 2, threadsPerOwner: 1 })
    const hung = [failureOf(pool.run('never', 'a')), failureOf(pool.run('never', 'a'))]
    expect(await resultOf(pool.run('other', 'b'))).toBe('other')
    await pool.close()
    expect(await Promise.all(hung)).toEqual(['closed', 'closed'])
  })

  test('takes turns with others', () => {
    const queue = createFairQueue<string>({ total: 10, perOwner: 10 })
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.slice(0, 1), item)
    const all = () => true
    const taken = Array.from({ length: 7 }, () => queue.take(all))
    expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined])
  })

  test('that cannot run yet keeps its turn', () => {
    const queue = createFairQueue<string>({ total: 10, perOwner: 10 })
    for (const item of ['a1', 'b1', 'b2']) queue.add(item.slice(0, 1), item)
    expect(queue.take((owner) => owner === 'b')).toBe('b1')
    expect(queue.take(() => true)).toBe('a1')
  })
})

test('a closed pool rejects jobs', async () => {
  const pool = openPool()
  expect(await resultOf(pool.run(1))).toBe(1)
  await pool.close()
  expect(await failureOf(pool.run(2))).toBe('closed')
})
