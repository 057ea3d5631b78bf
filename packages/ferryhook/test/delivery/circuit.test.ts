import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { createCircuit } from '../../src/delivery/circuit.ts'
import { times } from '../workbench.ts'

describe('a circuit', () => {
  const settings = { failures: 3, openMs: 30_000, longestOpenMs: 100_000 }

  function setUp() {
    const clock = testClock()
    const circuit = createCircuit(clock, settings)
    const fail = (many: number) => times(many, () => circuit.begin()('failed'))
    return { clock, circuit, fail }
  }

  test('opens after so many failures in a row, and a success between them begins anew', () => {
    const { clock, circuit, fail } = setUp()
    fail(2)
    circuit.begin()('answered')
    fail(2)
    expect(circuit.blockedUntil()).toBeUndefined()
    fail(1)
    expect(circuit.blockedUntil()).toBe(clock.now() + 30_000)
    expect(circuit.isOpen).toBe(true)
  })

  test('lets one through when its time is over, and the others ask again soon', () => {
    const { clock, circuit, fail } = setUp()
    fail(3)
    clock.advance({ ms: 29_999 })
    expect(circuit.blockedUntil()).toBe(clock.now() + 1)
    clock.advance({ ms: 1 })
    expect(circuit.blockedUntil()).toBeUndefined()
    const end = circuit.begin()
    expect(circuit.blockedUntil()).toBe(clock.now() + 5_000)
    end('answered')
    expect(circuit.blockedUntil()).toBeUndefined()
    expect(circuit.isQuiet).toBe(true)
  })

  test('stays open twice as long each time the one fails, up to a limit, and forgets that with a success', () => {
    const { clock, circuit, fail } = setUp()
    fail(3)
    const open: number[] = []
    for (let round = 0; round < 4; round++) {
      open.push((circuit.blockedUntil() ?? 0) - clock.now())
      clock.advance({ ms: open.at(-1) ?? 0 })
      circuit.begin()('failed')
    }
    expect(open).toEqual([30_000, 60_000, 100_000, 100_000])
    clock.advance({ ms: 100_000 })
    circuit.begin()('answered')
    fail(3)
    expect(circuit.blockedUntil()).toBe(clock.now() + 30_000)
  })

  test('an attempt that says nothing leaves it to the next', () => {
    const { clock, circuit, fail } = setUp()
    fail(3)
    clock.advance({ ms: 30_000 })
    circuit.begin()('unknown')
    expect(circuit.blockedUntil()).toBeUndefined()
    expect(circuit.isOpen).toBe(true)
  })

  test('attempts that began before it opened do not keep it open longer', () => {
    const { clock, circuit, fail } = setUp()
    const before = times(5, () => circuit.begin())
    fail(3)
    clock.advance({ ms: 10_000 })
    for (const end of before) end('failed')
    expect(circuit.blockedUntil()).toBe(clock.now() + 20_000)
  })
})
