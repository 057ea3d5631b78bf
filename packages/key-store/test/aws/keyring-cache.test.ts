import { randomBytes, randomUUID } from 'node:crypto'
import { NodeBranchKeyMaterial } from '@aws-crypto/material-management'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { awsBranchKeyCache } from '../../src/aws/keyring-cache.ts'

const newMaterial = () => new NodeBranchKeyMaterial(randomBytes(32), 'id', randomUUID(), {})

describe("the cache for AWS's keyring", () => {
  test('gives back what was put in, until its time is over', () => {
    const clock = testClock()
    const cache = awsBranchKeyCache({ clock })
    const material = newMaterial()
    expect(cache.getBranchKeyMaterial('a')).toBe(false)
    cache.putBranchKeyMaterial('a', material, 1000)
    clock.advance({ ms: 999 })
    expect(cache.getBranchKeyMaterial('a')).toMatchObject({ response: material })
    clock.advance({ ms: 1 })
    expect(cache.getBranchKeyMaterial('a')).toBe(false)
  })

  test('does not trust a key from the future, as after the clock was set back', () => {
    let now = 1_000_000
    const cache = awsBranchKeyCache({ clock: { now: () => now } })
    cache.putBranchKeyMaterial('a', newMaterial(), 1000)
    now -= 1
    expect(cache.getBranchKeyMaterial('a')).toBe(false)
  })

  test('never touches a key that somebody may hold', () => {
    const clock = testClock()
    const cache = awsBranchKeyCache({ clock, capacity: 1 })
    const held = newMaterial()
    const key = Buffer.from(held.branchKey())
    const ways = [
      () => cache.putBranchKeyMaterial('a', newMaterial()),
      () => cache.putBranchKeyMaterial('b', newMaterial()),
      () => cache.del('a'),
      () => {
        clock.advance({ hours: 1 })
        cache.getBranchKeyMaterial('a')
      },
    ]
    for (const drop of ways) {
      cache.putBranchKeyMaterial('a', held, 1000)
      drop()
      expect(cache.getBranchKeyMaterial('a')).not.toMatchObject({ response: held })
      expect(held.branchKey()).toEqual(key)
    }
  })

  test('keeps as many as it may, and drops the one that was used longest ago', () => {
    const cache = awsBranchKeyCache({ capacity: 2 })
    for (const name of ['a', 'b']) cache.putBranchKeyMaterial(name, newMaterial())
    cache.getBranchKeyMaterial('a')
    cache.putBranchKeyMaterial('c', newMaterial())
    const kept = ['a', 'b', 'c'].map((name) => cache.getBranchKeyMaterial(name) !== false)
    expect(kept).toEqual([true, false, true])
  })

  test('is for branch keys only', () => {
    const cache = awsBranchKeyCache()
    expect(() => cache.getEncryptionMaterial('a', 0)).toThrow('does not support data keys')
    expect(() => cache.getDecryptionMaterial('a')).toThrow('does not support data keys')
  })
})
