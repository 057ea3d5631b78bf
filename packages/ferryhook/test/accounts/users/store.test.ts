import { ItemMismatch } from '@strongroom/kit/db-errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserChanges } from '../../../src/accounts/users/store.ts'
import {
  storesOn,
  openWorkbench,
  outcomes,
  required,
  serviceWorlds,
  times,
  type Workbench,
} from '../../support/test-stores.ts'

const bcrypt = `$2b$12$${'./Az09'.repeat(9)}`.slice(0, 60)

describe.each(serviceWorlds())('users on $name', (world) => {
  let bench: Workbench
  let users: Workbench['stores']['users']
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench(world)
    users = bench.stores.users
  })
  afterAll(() => bench.close())

  const newcomer = () => ({
    email: `person-${++people}@example.com`,
    name: 'Ada',
    plan: 'free' as const,
  })
  const main = (PK: string, SK: string) => bench.stored('ferryhook-main', { PK, SK })

  test('a user is stored attribute for attribute as the specification shows', async () => {
    const { email } = newcomer()
    const now = new Date(bench.clock.now()).toISOString()
    const user = await users.create({
      email,
      name: 'Ada',
      plan: 'starter',
      passwordHash: bcrypt,
      githubId: `gh-${people}`,
      googleId: `go-${people}`,
    })
    await users.update(user.userId, { stripeCustomerId: 'cus_1', stripeSubId: 'sub_1' })
    expect(user.userId).toMatch(/^usr_[\w-]{16}$/)
    expect(await main(`USER#${user.userId}`, 'PROFILE')).toEqual({
      PK: `USER#${user.userId}`,
      SK: 'PROFILE',
      GSI1PK: `EMAIL#${email}`,
      GSI1SK: 'USER',
      userId: user.userId,
      email,
      name: 'Ada',
      passwordHash: bcrypt,
      plan: 'starter',
      stripeCustomerId: 'cus_1',
      stripeSubId: 'sub_1',
      githubId: `gh-${people}`,
      googleId: `go-${people}`,
      usageThisMonth: 0,
      usagePeriodStart: '2100-01-01',
      createdAt: now,
      updatedAt: now,
    })
  })

  test('optional attributes of a user that are not given are not stored', async () => {
    const user = await users.create({ ...newcomer(), passwordHash: undefined })
    const stored = required(await main(`USER#${user.userId}`, 'PROFILE'))
    expect(Object.keys(stored)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/passwordHash|stripe|githubId|googleId/)]),
    )
    expect(user).toEqual(stored)
  })

  test('a user is found by id and by e-mail address, in any case of letters', async () => {
    const user = await users.create(newcomer())
    expect(await users.getById(user.userId)).toEqual(user)
    expect(await users.getByEmail(user.email.toUpperCase())).toEqual(user)
    expect(await users.getById('usr_0000000000000000')).toBeNull()
    expect(await users.getByEmail('nobody@example.com')).toBeNull()
  })

  test('one of twenty concurrent sign-ups with one e-mail address creates a user', async () => {
    const signup = newcomer()
    const ends = await outcomes(
      times(20, (index) =>
        users.create({
          ...signup,
          email: index % 2 ? signup.email : signup.email.toUpperCase(),
        }),
      ),
    )
    expect(ends.filter((end) => end === 'email_taken')).toHaveLength(19)
    const [winner] = ends.filter((end) => typeof end !== 'string')
    expect(await users.getByEmail(signup.email)).toEqual(winner)
  })

  test('a new user is found by e-mail address before the index contains it', async () => {
    const stale = storesOn(bench.db, bench.clock, { seed: 1, staleIndex: 1 })
    const user = await stale.users.create(newcomer())
    expect(await stale.users.getByEmail(user.email)).toEqual(user)
  })

  test('a stale index does not return the former owner of an e-mail address', async () => {
    const signup = newcomer()
    const former = await users.create(signup)
    const stale = storesOn(bench.db, bench.clock, { seed: 3, staleIndex: 0.5 })
    for (let asked = 0; asked < 10; asked++) await stale.users.getByEmail(signup.email)
    await users.update(former.userId, { email: newcomer().email })
    const owner = await users.create(signup)
    for (let asked = 0; asked < 10; asked++) {
      expect((await stale.users.getByEmail(signup.email))?.userId).toBe(owner.userId)
    }
  })

  test('a change of e-mail address frees the old one and takes the new one', async () => {
    const [first, second] = [newcomer(), newcomer()]
    const user = await users.create(first)
    await users.update(user.userId, { email: second.email })
    expect((await users.getByEmail(second.email))?.userId).toBe(user.userId)
    expect(await outcomes([users.create(second)])).toEqual(['email_taken'])
    const successor = await users.create(first)
    expect(await outcomes([users.update(successor.userId, { email: second.email })])).toEqual([
      'email_taken',
    ])
  })

  test('ten identical concurrent changes of an e-mail address succeed', async () => {
    const { userId } = await users.create(newcomer())
    const { email } = newcomer()
    const changed = await Promise.all(times(10, () => users.update(userId, { email })))
    expect(new Set(changed.map((user) => user.email))).toEqual(new Set([email]))
    expect(await users.getByEmail(email)).toMatchObject({ userId })
  })

  test('a sign-in identity belongs to one user and is never matched by e-mail', async () => {
    const githubId = `identity-${++people}`
    const ends = await outcomes(times(20, () => users.create({ ...newcomer(), githubId })))
    expect(ends.filter((end) => end === 'identity_taken')).toHaveLength(19)
    const [owner] = ends.filter((end) => typeof end !== 'string')
    expect(await users.getByOAuth('github', githubId)).toEqual(owner)
    expect(await users.getByOAuth('google', githubId)).toBeNull()
    const removed = await users.update(required(owner).userId, { githubId: undefined })
    expect(removed).not.toHaveProperty('githubId')
    expect(await users.getByOAuth('github', githubId)).toBeNull()
  })

  test('simultaneous additions to the usage of a month are all counted', async () => {
    const { userId } = await users.create(newcomer())
    await Promise.all([
      ...times(10, () => users.incrementUsage(userId)),
      users.incrementUsage(userId, 5),
    ])
    expect((await users.getById(userId))?.usageThisMonth).toBe(15)
    expect(await outcomes([users.incrementUsage('usr_0000000000000000')])).toEqual(['not_found'])
  })

  test('an update of an unknown user is rejected and creates none', async () => {
    expect(await outcomes([users.update('usr_0000000000000000', { name: 'Ghost' })])).toEqual([
      'not_found',
    ])
    expect(await main('USER#usr_0000000000000000', 'PROFILE')).toBeUndefined()
  })

  test('an invalid user is rejected before it reaches the store', async () => {
    const wrong = { ...newcomer(), plan: 'gold' as 'free' }
    await expect(users.create(wrong)).rejects.toThrow(ItemMismatch)
    expect(await users.getByEmail(wrong.email)).toBeNull()
    const user = await users.create(newcomer())
    const changes = [
      { plan: 'gold' },
      { name: undefined },
      { userId: 'usr_x' },
      { usageThisMonth: 0 },
      { passwordHash: 'correct horse' },
    ]
    for (const change of changes as UserChanges[]) {
      const error = await users.update(user.userId, change).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ItemMismatch)
      expect(error).toMatchObject({ table: 'ferryhook-main', attributes: Object.keys(change) })
    }
    await expect(users.incrementUsage(user.userId, 0.5)).rejects.toThrow(ItemMismatch)
    expect(await users.getById(user.userId)).toEqual(user)
  })

  test('a damaged user in the store is a typed error that names table and key, not its content', async () => {
    const key = { PK: 'USER#usr_damaged000000000', SK: 'PROFILE' }
    await bench.db.putItem({
      TableName: 'ferryhook-main',
      Item: { ...key, email: 'private@example.com' },
    })
    const error = await users.getById('usr_damaged000000000').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ItemMismatch)
    expect(error).toMatchObject({ table: 'ferryhook-main', key })
    expect(String(error)).not.toContain('private@')
  })

  test('after a user is deleted, the address can be used again', async () => {
    const signup = newcomer()
    const { userId } = await users.create(signup)
    await users.delete(userId)
    await users.delete(userId)
    expect(await users.getById(userId)).toBeNull()
    expect((await users.create(signup)).userId).not.toBe(userId)
  })

  test('usage starts again with the first event of a calendar month', async () => {
    const { userId } = await users.create(newcomer())
    await users.incrementUsage(userId, 7)
    bench.clock.advance({ days: 31 })
    await Promise.all(times(10, () => users.incrementUsage(userId)))
    expect(await users.getById(userId)).toMatchObject({
      usageThisMonth: 10,
      usagePeriodStart: '2100-02-01',
    })
  })
})
