import { randomBytes, randomUUID } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { cachedBranchKeys } from '../src/cache.ts'
import type { BranchKeyMaterials, BranchKeySource } from '../src/store/key-store.ts'
import { openTestKeyStore } from './support/open-key-store.ts'

const VERSION = randomUUID()
const hexOf = ({ branchKey }: BranchKeyMaterials) => Buffer.from(branchKey).toString('hex')

/** A source whose reads end when the test says so, and which remembers what it handed out. */
function source() {
  const handedOut: BranchKeyMaterials[] = []
  const waiting: ((failure?: Error) => void)[] = []
  let held = false
  const read = async (branchKeyIdentifier: string): Promise<BranchKeyMaterials> => {
    const branchKey = Uint8Array.from(randomBytes(32))
    const materials = {
      branchKeyIdentifier,
      branchKeyVersion: VERSION,
      branchKey,
      encryptionContext: { tenant: branchKeyIdentifier },
    }
    handedOut.push(materials)
    if (held) {
      await new Promise<void>((resolve, reject) => {
        waiting.push((failure) => (failure ? reject(failure) : resolve()))
      })
    }
    return materials
  }
  const given: BranchKeySource = {
    getActiveBranchKey: ({ branchKeyIdentifier }) => read(branchKeyIdentifier),
    getBranchKeyVersion: ({ branchKeyIdentifier }) => read(branchKeyIdentifier),
  }
  return {
    given,
    handedOut,
    hold: () => {
      held = true
    },
    /** Lets later reads finish immediately. */
    pass: () => {
      held = false
    },
    /** Finishes all running reads; later ones finish immediately. */
    release(failure?: Error) {
      held = false
      for (const end of waiting.splice(0)) end(failure)
    },
  }
}

function open({ ttlSeconds = 60, capacity = 10 } = {}) {
  const clock = testClock()
  const { given, ...rest } = source()
  const cache = cachedBranchKeys(given, { clock, ttlSeconds, capacity })
  const get = (id: string) => cache.getActiveBranchKey({ branchKeyIdentifier: id })
  return { clock, cache, get, ...rest }
}

describe('a cache of branch keys', () => {
  test('reads a key once, and gives it again with all that belongs to it', async () => {
    const { cache, get, handedOut } = open()
    const first = await get('a')
    expect(first).toEqual({
      branchKeyIdentifier: 'a',
      branchKeyVersion: VERSION,
      branchKey: expect.any(Uint8Array),
      encryptionContext: { tenant: 'a' },
    })
    expect(await get('a')).toEqual(first)
    expect(handedOut).toHaveLength(1)
    const version = { branchKeyIdentifier: 'a', branchKeyVersion: VERSION }
    const second = await cache.getBranchKeyVersion(version)
    expect(await cache.getBranchKeyVersion(version)).toEqual(second)
    expect(handedOut).toHaveLength(2)
  })

  test('does not take one key or version for another, whatever they are called', async () => {
    const { cache, handedOut } = open()
    const ids = ['a', '["a"]', 'a","b', '', '__proto__']
    const versions = ['b', 'b"]']
    const reads = [
      ...ids.map((id) => cache.getActiveBranchKey({ branchKeyIdentifier: id })),
      ...ids.flatMap((id) =>
        versions.map((version) =>
          cache.getBranchKeyVersion({ branchKeyIdentifier: id, branchKeyVersion: version }),
        ),
      ),
    ]
    const keys = (await Promise.all(reads)).map(hexOf)
    expect(new Set(keys).size).toBe(15)
    expect(handedOut).toHaveLength(15)
  })

  test('gives every caller a copy of its own', async () => {
    const { get } = open()
    const [first, second] = await Promise.all([get('a'), get('a')])
    const third = await get('a')
    const known = hexOf(third)
    for (const each of [first, second, third]) {
      expect(hexOf(each)).toBe(known)
      each.branchKey.fill(0)
      each.encryptionContext.tenant = 'altered'
    }
    const fourth = await get('a')
    expect(hexOf(fourth)).toBe(known)
    expect(fourth.encryptionContext).toEqual({ tenant: 'a' })
  })

  test('reads anew when the time is up, and not a moment before', async () => {
    const { clock, get, handedOut } = open({ ttlSeconds: 60 })
    await get('a')
    clock.advance({ ms: 59_999 })
    await get('a')
    expect(handedOut).toHaveLength(1)
    clock.advance({ ms: 1 })
    await get('a')
    expect(handedOut).toHaveLength(2)
  })

  test('counts the age from the request of a key, not from its arrival', async () => {
    const { clock, get, handedOut, hold, release } = open({ ttlSeconds: 60 })
    hold()
    const slow = get('a')
    clock.advance({ seconds: 40 })
    release()
    await slow
    clock.advance({ seconds: 20 })
    await get('a')
    expect(handedOut).toHaveLength(2)
  })

  test('does not trust a key from the future, as after the clock was set back', async () => {
    const { given, handedOut } = source()
    let now = 1_000_000
    const cache = cachedBranchKeys(given, {
      clock: { now: () => now },
      ttlSeconds: 60,
      capacity: 9,
    })
    await cache.getActiveBranchKey({ branchKeyIdentifier: 'a' })
    now -= 1
    await cache.getActiveBranchKey({ branchKeyIdentifier: 'a' })
    expect(handedOut).toHaveLength(2)
  })

  test('keeps no more than it may, and lets go of the one used longest ago', async () => {
    const { get, handedOut } = open({ capacity: 3 })
    for (const id of ['a', 'b', 'c', 'a', 'd']) await get(id)
    expect(handedOut).toHaveLength(4)
    for (const id of ['a', 'c', 'd']) await get(id)
    expect(handedOut).toHaveLength(4)
    await get('b')
    expect(handedOut).toHaveLength(5)
  })

  test('does not evict a key that is being read, however many others are requested', async () => {
    const { get, handedOut, hold, pass, release } = open({ capacity: 1 })
    hold()
    const first = get('a')
    pass()
    for (const id of ['b', 'c']) await get(id)
    const second = get('a')
    release()
    expect(hexOf(await second)).toBe(hexOf(await first))
    expect(handedOut).toHaveLength(3)
  })

  test('forgets all of one key and nothing of others', async () => {
    const { cache, get, handedOut } = open()
    const version = { branchKeyIdentifier: 'a', branchKeyVersion: VERSION }
    await get('a')
    await cache.getBranchKeyVersion(version)
    await get('b')
    cache.forget('a')
    cache.forget('never heard of')
    await get('b')
    expect(handedOut).toHaveLength(3)
    await get('a')
    await cache.getBranchKeyVersion(version)
    expect(handedOut).toHaveLength(5)
  })

  test.each(['forget', 'clear'] as const)(
    'after %s during a read does not keep what that read brings',
    async (how) => {
      const { cache, get, handedOut, hold, release } = open()
      hold()
      const early = get('a')
      if (how === 'forget') cache.forget('a')
      else cache.clear()
      const late = get('a')
      release()
      const [old, current] = await Promise.all([early, late])
      expect(handedOut).toHaveLength(2)
      expect(hexOf(old)).not.toBe(hexOf(current))
      expect(hexOf(await get('a'))).toBe(hexOf(current))
      expect(handedOut).toHaveLength(2)
    },
  )

  test('fails all who wait when a read fails, and then tries again', async () => {
    const { get, handedOut, hold, release } = open()
    hold()
    const failing = Promise.allSettled(Array.from({ length: 20 }, () => get('a')))
    const failure = new Error('KMS is away')
    release(failure)
    expect(await failing).toEqual(
      Array.from({ length: 20 }, () => ({ status: 'rejected', reason: failure })),
    )
    expect(handedOut).toHaveLength(1)
    const [first, second] = await Promise.all([get('a'), get('a')])
    expect(hexOf(first)).toBe(hexOf(second))
    expect(handedOut).toHaveLength(2)
  })

  const wiped = new Uint8Array(32)

  test('gives fifty concurrent callers fifty buffers from one read', async () => {
    const { get, handedOut } = open()
    const copies = await Promise.all(Array.from({ length: 50 }, () => get('a')))
    expect(handedOut).toHaveLength(1)
    expect(new Set(copies.map(hexOf)).size).toBe(1)
    expect(copies[0]?.branchKey).not.toEqual(wiped)
    expect(new Set(copies.map(({ branchKey }) => branchKey.buffer)).size).toBe(50)
  })

  test.each<[when: string, (opened: ReturnType<typeof open>) => unknown]>([
    ['when it is forgotten', ({ cache }) => cache.forget('a')],
    ['when all is cleared', ({ cache }) => cache.clear()],
    ['when others take its place', ({ get }) => Promise.all([get('b'), get('c')])],
    [
      'when its time is up and it is asked for',
      ({ clock, get }) => {
        clock.advance({ seconds: 60 })
        return get('a')
      },
    ],
    [
      'when its time is up and another is read',
      ({ clock, get }) => {
        clock.advance({ seconds: 60 })
        return get('b')
      },
    ],
  ])('wipes what it held of a key %s, and nothing that it gave', async (_when, end) => {
    const opened = open({ capacity: 2 })
    const copy = await opened.get('a')
    const [held] = opened.handedOut
    expect(held?.branchKey).toEqual(copy.branchKey)
    await end(opened)
    expect(held?.branchKey).toEqual(wiped)
    expect(copy.branchKey).not.toEqual(wiped)
  })

  test('wipes the result of a read that was dropped, after the waiting callers have their copies', async () => {
    const { cache, get, handedOut, hold, release } = open()
    hold()
    const reads = [get('a'), get('a')]
    cache.forget('a')
    release()
    const copies = await Promise.all(reads)
    expect(handedOut[0]?.branchKey).toEqual(wiped)
    for (const { branchKey } of copies) expect(branchKey).not.toEqual(wiped)
  })

  test('never wipes what somebody is about to get, whatever else happens at that moment', async () => {
    const { cache, clock, get, hold, release } = open({ capacity: 1, ttlSeconds: 1 })
    for (let round = 0; round < 20; round++) {
      const ids = ['a', 'b', 'c', 'a', 'b', 'c', 'a']
      hold()
      const reads = ids.map(async (id) => {
        const materials = await get(id)
        if (round % 3 === 0) cache.clear()
        if (round % 3 === 1) cache.forget(id)
        if (round % 3 === 2) clock.advance({ seconds: 1 })
        return { id, materials }
      })
      release()
      for (const { id, materials } of await Promise.all(reads)) {
        expect(materials.branchKeyIdentifier).toBe(id)
        expect(materials.branchKey).not.toEqual(wiped)
      }
    }
  })

  test.each([
    [{ ttlSeconds: 0, capacity: 1 }],
    [{ ttlSeconds: -1, capacity: 1 }],
    [{ ttlSeconds: Number.NaN, capacity: 1 }],
    [{ ttlSeconds: Number.POSITIVE_INFINITY, capacity: 1 }],
    [{ ttlSeconds: 1, capacity: 0 }],
    [{ ttlSeconds: 1, capacity: 1.5 }],
    [{ ttlSeconds: 1, capacity: Number.NaN }],
  ])('cannot be made with %j', (limits) => {
    expect(() => open(limits)).toThrow(RangeError)
  })
})

describe.each(serviceStores())('a cache of the branch keys on $name', (store) => {
  const opened = openTestKeyStore(store)

  test('makes one call to KMS for fifty concurrent first reads, and each gets the right key', async () => {
    const { keyStore, calls } = opened.open()
    const key = await keyStore.createKey({ encryptionContext: { tenant: 'one' } })
    const known = await keyStore.getActiveBranchKey(key)
    calls.length = 0
    const cache = cachedBranchKeys(keyStore, { clock: opened.clock, ttlSeconds: 60, capacity: 9 })
    const copies = await Promise.all(
      Array.from({ length: 50 }, () => cache.getActiveBranchKey(key)),
    )
    expect(calls).toHaveLength(1)
    for (const copy of copies) {
      expect(copy).toEqual(known)
      copy.branchKey.fill(0)
    }
    expect(await cache.getActiveBranchKey(key)).toEqual(known)
    expect(calls).toHaveLength(1)
  })

  test('shows a rotation once the key is forgotten, and the old version still opens', async () => {
    const { keyStore } = opened.open()
    const key = await keyStore.createKey()
    const cache = cachedBranchKeys(keyStore, { clock: opened.clock, ttlSeconds: 60, capacity: 9 })
    const before = await cache.getActiveBranchKey(key)
    const { branchKeyVersion } = await keyStore.versionKey(key)
    expect(await cache.getActiveBranchKey(key)).toEqual(before)
    cache.forget(key.branchKeyIdentifier)
    expect(await cache.getActiveBranchKey(key)).toMatchObject({ branchKeyVersion })
    expect(await cache.getBranchKeyVersion({ ...key, ...before })).toEqual(before)
  })

  test('keeps no failure: a key that is made later is found', async () => {
    const { keyStore } = opened.open()
    const input = { branchKeyIdentifier: randomUUID(), encryptionContext: { tenant: 'one' } }
    const cache = cachedBranchKeys(keyStore, { clock: opened.clock, ttlSeconds: 60, capacity: 9 })
    await expect(cache.getActiveBranchKey(input)).rejects.toMatchObject({
      name: 'BranchKeyNotFound',
    })
    await keyStore.createKey(input)
    expect(await cache.getActiveBranchKey(input)).toMatchObject(input)
  })
})
