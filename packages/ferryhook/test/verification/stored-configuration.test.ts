import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkSigning, signingAttributes, schemeOf } from '../../src/verification/configuration.ts'
import { dedupKeyOf } from '../../src/verification/dedup-key.ts'
import { openWorkbench, required, sealedText, type Workbench } from '../support/test-stores.ts'

describe.each(serviceStores())('the options of a source on $name', (store) => {
  let bench: Workbench
  let sources: Workbench['stores']['sources']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    sources = bench.stores.sources
  })
  afterAll(() => bench.close())

  const input = () => ({ userId: newId('usr'), name: 'Shop', provider: 'custom' as const })

  test('store the signing scheme and the deduplication rule, and can be updated', async () => {
    const checked = checkSigning({
      provider: 'custom',
      signingOptions: { header: 'X-Shop-Signature', prefix: 'sha256=' },
      secrets: ['secret'],
    })
    const scheme = required(checked.ok ? checked.scheme : undefined)
    const { sourceId, userId } = await sources.create({
      ...input(),
      ...signingAttributes(scheme),
      signingSecret: sealedText('secret'),
      dedup: '{"by":"header","name":"x-shop-id"}',
    })
    const stored = required(await sources.getOwned(sourceId, userId))
    expect(schemeOf(stored)).toEqual(scheme)
    const request = { headers: { 'x-shop-id': '17' }, body: new Uint8Array() }
    expect(dedupKeyOf(stored, request)).toBe('17')

    const changed = await sources.update(sourceId, userId, {
      signingAlgorithm: 'github',
      signingOptions: undefined,
      dedup: undefined,
    })
    expect(schemeOf(changed)).toEqual({ algorithm: 'github', legacySha1: false })
    expect(dedupKeyOf(changed, request)).toBeUndefined()
  })

  test('are rejected before they reach the store if they are not JSON objects', async () => {
    for (const wrong of [
      { signingOptions: 'sha256' },
      { dedup: '[]' },
      { signingOptions: '"x"' },
    ]) {
      await expect(sources.create({ ...input(), ...wrong })).rejects.toThrow(ItemMismatch)
    }
  })
})
