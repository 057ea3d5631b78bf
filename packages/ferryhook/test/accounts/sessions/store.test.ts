import { createHash } from 'node:crypto'
import { newId } from '@strongroom/kit/ids'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkbench, serviceWorlds, times, type Workbench } from '../../support/test-stores.ts'

const hash = (token: string) => createHash('sha256').update(token).digest('hex')

const FAMILY_KEY = 'k'.repeat(43)

describe.each(serviceWorlds())('sessions on $name', (world) => {
  let bench: Workbench
  let sessions: Workbench['stores']['sessions']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    sessions = bench.stores.sessions
  })
  afterAll(() => bench.close())

  async function session() {
    const { userId, familyId } = await sessions.create({
      userId: newId('usr'),
      familyKey: FAMILY_KEY,
      tokenHash: hash('1'),
    })
    const rotate = (from: string, to: string) =>
      sessions.rotate({ userId, familyId, presentedHash: hash(from), nextHash: hash(to) })
    return { userId, familyId, rotate }
  }

  test('a refresh token is stored by its hash and expires after thirty days', async () => {
    const { userId, familyId } = await session()
    const key = { PK: `USER#${userId}`, SK: `RTK#${familyId}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      userId,
      familyId,
      familyKey: FAMILY_KEY,
      tokenHash: hash('1'),
      rotatedAt: bench.clock.now(),
      createdAt: new Date(bench.clock.now()).toISOString(),
      expiresAt: Math.floor(bench.clock.now() / 1000) + 2_592_000,
    })
  })

  test('one of twenty concurrent uses of a refresh token gets the next one, and the session continues', async () => {
    const { userId, rotate } = await session()
    const ends = await Promise.all(times(20, (n) => rotate('1', `next ${n}`)))
    expect(ends.filter((end) => end === 'rotated')).toHaveLength(1)
    expect(ends.filter((end) => end === 'grace')).toHaveLength(19)
    expect(await sessions.listByUser(userId)).toHaveLength(1)
  })

  test('a used refresh token that is presented after ten seconds ends the session', async () => {
    const { userId, rotate } = await session()
    expect(await rotate('1', '2')).toBe('rotated')
    bench.clock.advance({ seconds: 10 })
    expect(await rotate('1', '3')).toBe('grace')
    bench.clock.advance({ ms: 1 })
    expect(await rotate('1', '3')).toBe('reused')
    expect(await rotate('2', '3')).toBe('unknown')
    expect(await sessions.listByUser(userId)).toEqual([])
  })

  test('a token in place of its hash is rejected and the session is unchanged', async () => {
    const { userId, familyId, rotate } = await session()
    const plain = { userId, familyId, presentedHash: hash('1'), nextHash: 'the token itself' }
    await expect(sessions.rotate(plain)).rejects.toThrow(ItemMismatch)
    expect(await rotate('1', '2')).toBe('rotated')
  })

  test('an expired session is unknown even if it is still stored', async () => {
    const { userId, rotate } = await session()
    bench.clock.advance({ days: 30 })
    expect(await rotate('1', '2')).toBe('unknown')
    expect(await sessions.listByUser(userId)).toEqual([])
  })

  test('all sessions of a user can be ended', async () => {
    const { userId } = await session()
    await sessions.create({ userId, familyKey: FAMILY_KEY, tokenHash: hash('other') })
    for (const { familyId } of await sessions.listByUser(userId)) {
      await sessions.revoke(userId, familyId)
    }
    expect(await sessions.listByUser(userId)).toEqual([])
  })
})
