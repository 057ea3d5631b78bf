import { describe, expect, test } from 'vitest'
import { timeTicks, valueTicks } from '../../src/app/parts/chart-scale.ts'

describe('the labels of an axis', () => {
  test('are at most five round numbers from zero to at least the maximum', () => {
    expect(valueTicks(0, 'count')).toEqual([0, 1])
    expect(valueTicks(3, 'count')).toEqual([0, 1, 2, 3])
    expect(valueTicks(7, 'count')).toEqual([0, 2, 4, 6, 8])
    expect(valueTicks(383, 'count')).toEqual([0, 100, 200, 300, 400])
    expect(valueTicks(1_680, 'ms')).toEqual([0, 500, 1_000, 1_500, 2_000])
    for (let max = 1; max < 1e9; max = Math.ceil(max * 1.37)) {
      const ticks = valueTicks(max, 'count')
      expect(ticks.length).toBeLessThanOrEqual(5)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(max)
      expect(ticks.every(Number.isInteger)).toBe(true)
    }
  })

  test('are round minutes and hours for long durations', () => {
    expect(valueTicks(400_000, 'ms')).toEqual([0, 120_000, 240_000, 360_000, 480_000])
  })

  test('are at round hours of the zone of the reader', () => {
    const [from, to] = [Date.parse('2026-11-17T05:00Z'), Date.parse('2026-11-18T06:00Z')]
    const times = (offset: number) =>
      timeTicks(from, to, offset).map((at) => new Date(at).toISOString().slice(11, 16))
    expect(times(0)).toEqual([
      '06:00',
      '09:00',
      '12:00',
      '15:00',
      '18:00',
      '21:00',
      '00:00',
      '03:00',
      '06:00',
    ])
    expect(times(5.5 * 3_600_000)[0]).toBe('06:30')
  })
})
