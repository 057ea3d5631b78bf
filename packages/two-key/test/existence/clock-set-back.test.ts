import { type Clock } from '@strongroom/kit/clock'
import { describe, expect, test } from 'vitest'
import { createCircuit } from '../../src/existence/circuit.ts'
import { createMissBudgets } from '../../src/existence/miss-budgets.ts'
import { newTeam, refused, scene, undecidable } from './scene.ts'

const HOUR = 3_600_000

/** The clock of a scene, which an operator may correct. */
function corrected({ clock: right }: { clock: Clock }) {
  let ahead = HOUR
  return {
    clock: { now: () => right.now() + ahead },
    setBack: () => void (ahead = 0),
  }
}

describe('when the clock is set back by an hour', () => {
  test('a budget that was used up is full again after a minute, and not before', () => {
    const { clock: right } = scene([])
    const { clock, setBack } = corrected({ clock: right })
    const budgets = createMissBudgets({ clock })
    const take = () => budgets.take('T1', 'users.info', { isKnown: false })
    while (take() === 0);
    setBack()
    expect(take()).toBe(60_000)
    right.advance({ minutes: 1 })
    expect(take()).toBe(0)
  })

  test('Slack is left alone no longer than it asked for', () => {
    const { clock, setBack } = corrected(scene([]))
    const circuit = createCircuit(clock)
    for (let failure = 0; failure < 10; failure++) circuit.failed()
    expect(circuit.closedFor('T1', 'users.info')).toMatchObject({ reason: 'circuit' })
    setBack()
    expect(circuit.closedFor('T1', 'users.info')).toBeUndefined()
  })

  test('nothing is believed for longer than five minutes', async () => {
    const { ids, team } = newTeam()
    const on = scene([team])
    const { clock, setBack } = corrected(on)
    const checker = on.machine({ clock })
    const check = async () =>
      checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
    expect(await check()).toEqual({ ok: true, source: 'slack' })
    setBack()
    on.slack.break({ kind: 'error', error: 'user_not_found', method: 'users.info' })
    expect(await check()).toEqual(refused('user'))
    on.slack.break({ kind: 'error', error: 'token_revoked' })
    on.clock.advance({ minutes: 5 })
    expect(await check()).toEqual(undecidable('credential'))
  })
})
