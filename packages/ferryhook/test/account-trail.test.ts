import { createHash } from 'node:crypto'
import { newId } from '@strongroom/kit/ids'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkbench, serviceWorlds, times, type Workbench } from './workbench.ts'

const hash = (token: string) => createHash('sha256').update(token).digest('hex')

const FAMILY_KEY = 'k'.repeat(43)

describe.each(serviceWorlds())('sessions and the audit log on $name', (world) => {
  let bench: Workbench
  let refreshTokens: Workbench['layer']['refreshTokens']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    refreshTokens = bench.layer.refreshTokens
  })
  afterAll(() => bench.close())

  async function session() {
    const { userId, familyId } = await refreshTokens.create({
      userId: newId('usr'),
      familyKey: FAMILY_KEY,
      tokenHash: hash('1'),
    })
    const rotate = (from: string, to: string) =>
      refreshTokens.rotate({ userId, familyId, presentedHash: hash(from), nextHash: hash(to) })
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

  test('of twenty that send one refresh token at once one gets the next, and nobody is thrown out', async () => {
    const { userId, rotate } = await session()
    const ends = await Promise.all(times(20, (n) => rotate('1', `next ${n}`)))
    expect(ends.filter((end) => end === 'rotated')).toHaveLength(1)
    expect(ends.filter((end) => end === 'grace')).toHaveLength(19)
    expect(await refreshTokens.listByUser(userId)).toHaveLength(1)
  })

  test('a used refresh token that comes back after ten seconds ends the session', async () => {
    const { userId, rotate } = await session()
    expect(await rotate('1', '2')).toBe('rotated')
    bench.clock.advance({ seconds: 10 })
    expect(await rotate('1', '3')).toBe('grace')
    bench.clock.advance({ ms: 1 })
    expect(await rotate('1', '3')).toBe('reused')
    expect(await rotate('2', '3')).toBe('unknown')
    expect(await refreshTokens.listByUser(userId)).toEqual([])
  })

  test('a token in place of its hash is refused and the session stays as it was', async () => {
    const { userId, familyId, rotate } = await session()
    const plain = { userId, familyId, presentedHash: hash('1'), nextHash: 'the token itself' }
    await expect(refreshTokens.rotate(plain)).rejects.toThrow(ItemMismatch)
    expect(await rotate('1', '2')).toBe('rotated')
  })

  test('an expired session is unknown although it is still stored', async () => {
    const { userId, rotate } = await session()
    bench.clock.advance({ days: 30 })
    expect(await rotate('1', '2')).toBe('unknown')
    expect(await refreshTokens.listByUser(userId)).toEqual([])
  })

  test('all sessions of a user can be ended', async () => {
    const { userId } = await session()
    await refreshTokens.create({ userId, familyKey: FAMILY_KEY, tokenHash: hash('other') })
    await refreshTokens.revokeAll(userId)
    expect(await refreshTokens.listByUser(userId)).toEqual([])
  })

  test('the audit log of a user is read newest first, page by page, for a year', async () => {
    const { audit } = bench.layer
    const userId = newId('usr')
    const actions = ['source.created', 'source.paused', 'source.deleted'] as const
    for (const action of actions) await audit.add({ userId, actor: userId, action })
    bench.clock.advance({ days: 300 })
    await audit.add({
      userId,
      actor: 'operator:ops',
      action: 'account.plan_changed',
      target: 'pro',
    })
    expect((await audit.listByUser(userId, { limit: 0 })).items).toHaveLength(1)
    const first = await audit.listByUser(userId, { limit: 3 })
    expect(first.items.map(({ action }) => action)).toEqual([
      'account.plan_changed',
      'source.deleted',
      'source.paused',
    ])
    const rest = await audit.listByUser(userId, { limit: 3, cursor: first.cursor ?? undefined })
    expect(rest).toMatchObject({ items: [{ action: 'source.created' }], cursor: null })
    bench.clock.advance({ days: 65 })
    expect((await audit.listByUser(userId)).items).toMatchObject([
      { action: 'account.plan_changed' },
    ])
  })
})
