import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { cachedBranchKeys } from '../../src/cache.ts'
import { createEnvelope } from '../../src/envelope/envelope.ts'
import { openEnvelope } from '../support/open-envelope.ts'

const place = { service: 'ferryhook', tenant: 'user_1', entity: 'src_1', attribute: 'secret' }
const plaintext = new TextEncoder().encode('whsec')

describe.each(serviceStores())('the first secret of a tenant on $name', (store) => {
  const opened = openEnvelope(store)

  test('is sealed although a cache has a running read from before the key was created', async () => {
    const { keyStore, clock } = opened
    const asked = signal()
    const answered = signal()
    let second = undefined as Promise<Uint8Array> | undefined
    const source = {
      ...keyStore,
      async getActiveBranchKey(input: { branchKeyIdentifier: string }) {
        const answer = keyStore.getActiveBranchKey(input)
        const [outcome] = await Promise.allSettled([answer])
        if (second && outcome.status === 'rejected') {
          asked.give()
          await answered.given
        }
        return answer
      },
    }
    const envelope = createEnvelope({
      branchKeys: cachedBranchKeys(source, { clock, ttlSeconds: 300, capacity: 10 }),
      keyStore: {
        async createKey(input) {
          if (second) return keyStore.createKey(input)
          second = envelope.seal(plaintext, place)
          await asked.given
          const made = await keyStore.createKey(input)
          // By then the first has asked again and waits for the same answer as the second.
          setImmediate(answered.give)
          return made
        },
      },
    })
    const first = await envelope.seal(plaintext, place)
    expect(await envelope.open(first, place)).toEqual(plaintext)
    expect(await envelope.open((await second) as Uint8Array, place)).toEqual(plaintext)
  })
})

function signal() {
  let give = () => {}
  const given = new Promise<void>((resolve) => (give = resolve))
  return { give, given }
}
