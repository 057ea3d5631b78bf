import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openWorkbench,
  outcomes,
  serviceWorlds,
  times,
  type Workbench,
} from '../../support/test-stores.ts'

const bcrypt = (letter: string) => `$2b$12$${letter.repeat(53)}`

describe.each(serviceWorlds())('tickets on $name', (world) => {
  let bench: Workbench
  let people = 0
  beforeAll(async () => {
    bench = await openWorkbench(world)
  })
  afterAll(() => bench.close())

  const newcomer = () => ({
    email: `ticket-${++people}@example.com`,
    name: 'Ada',
    plan: 'free' as const,
  })
  const invite = () =>
    bench.stores.tickets.create({ kind: 'invite', createdBy: 'ops', lifetimeSeconds: 60 })

  test('are stored as a hash until they expire', async () => {
    const { tickets } = bench.stores
    const { text, ticket } = await invite()
    const { PK, SK } = ticket
    const stored = await bench.stored('ferryhook-events', { PK, SK })
    expect(stored).toEqual(ticket)
    expect(JSON.stringify(stored)).not.toContain(text)
    expect(ticket.expiresAt).toBe(Math.floor(bench.clock.now() / 1000) + 60)
    expect(await tickets.get('invite', text)).toEqual(ticket)
    expect(await tickets.get('password_reset', text)).toBeNull()
    bench.clock.advance({ seconds: 60 })
    expect(await tickets.get('invite', text)).toBeNull()
    expect(
      await outcomes([bench.stores.users.create(newcomer(), { ticket: tickets.usePart(ticket) })]),
    ).toEqual(['ticket_used'])
  })

  test('one of ten concurrent sign-ups with one invite succeeds', async () => {
    const { tickets, users } = bench.stores
    const { ticket } = await invite()
    const ends = await outcomes(
      times(10, () => users.create(newcomer(), { ticket: tickets.usePart(ticket) })),
    )
    expect(ends.filter((end) => end === 'ticket_used')).toHaveLength(9)
  })

  test('an invite is not consumed by a sign-up with a taken address', async () => {
    const { tickets, users } = bench.stores
    const taken = newcomer()
    await users.create(taken)
    const { ticket } = await invite()
    expect(await outcomes([users.create(taken, { ticket: tickets.usePart(ticket) })])).toEqual([
      'email_taken',
    ])
    expect(await users.create(newcomer(), { ticket: tickets.usePart(ticket) })).toMatchObject({
      plan: 'free',
    })
    expect(await outcomes([users.create(taken, { ticket: tickets.usePart(ticket) })])).toEqual([
      'ticket_used',
    ])
  })

  test('one of ten concurrent password resets with one link succeeds', async () => {
    const { tickets, users } = bench.stores
    const user = await users.create({ ...newcomer(), passwordHash: bcrypt('a') })
    const { userId } = user
    const input = { kind: 'password_reset', userId, createdBy: 'ops', lifetimeSeconds: 60 } as const
    const { ticket } = await tickets.create(input)
    const letters = 'bcdefghijk'.split('')
    const ends = await outcomes(
      letters.map((letter) =>
        users
          .resetPassword(user, bcrypt(letter), { ticket: tickets.usePart(ticket) })
          .then(() => letter),
      ),
    )
    const winners = ends.filter((end) => end !== 'ticket_used')
    expect(winners).toHaveLength(1)
    const { passwordHash } = (await users.getById(userId)) ?? {}
    expect(passwordHash).toBe(bcrypt(winners[0] ?? ''))
    const { ticket: late } = await tickets.create(input)
    const resetLate = () =>
      outcomes([users.resetPassword(user, bcrypt('z'), { ticket: tickets.usePart(late) })])
    expect(await resetLate()).toEqual(['ticket_used'])
    await users.delete(userId)
    expect(await resetLate()).toEqual(['not_found'])
  })
})
