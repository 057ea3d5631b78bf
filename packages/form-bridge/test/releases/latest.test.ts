import { expect, test } from 'vitest'
import { createLatestRelease } from '../../src/releases/latest.ts'
import { onServiceStores } from '../support/on-every-store.ts'
import { hash, type TestStores } from '../support/test-stores.ts'

const texts = { name: '', author: '', homepage: '', requires: '', requires_php: '', tested: '' }

function publish({ releases }: TestStores, slug: string, version: string) {
  const signature = Buffer.alloc(64, 7).toString('base64')
  const details = { ...texts, upgrade_notice: '', sections: {} }
  const release = { slug, version, details, sha256: hash(version), signature }
  return releases.publish(release, Buffer.from(version))
}

onServiceStores('the newest version', (newStores) => {
  /** The newest version after one process changed it between the read and the cache write of another. */
  async function toldAfter(stores: TestStores, slug: string, change: () => Promise<unknown>) {
    const { clock, releases, versionCache } = stores
    const machine = (list = releases.list) =>
      createLatestRelease({ clock, versionCache, releases: { list } })
    let isFirst = true
    const looking = machine(async (name) => {
      const found = await releases.list(name)
      if (isFirst) {
        isFirst = false
        await change()
        await machine().invalidate(slug)
      }
      return found
    })
    await versionCache.clear()
    return [(await looking.get(slug)).version, (await machine().get(slug)).version]
  }

  test('that is published while another process reads is not hidden by its cache', async () => {
    const stores = newStores()
    await publish(stores, 'published-meanwhile', '1.0.0')
    const change = () => publish(stores, 'published-meanwhile', '1.1.0')
    expect(await toldAfter(stores, 'published-meanwhile', change)).toEqual(['1.1.0', '1.1.0'])
  })

  test('that is withdrawn while another process reads is no longer offered', async () => {
    const stores = newStores()
    const slug = 'withdrawn-meanwhile'
    for (const version of ['1.0.0', '1.1.0']) await publish(stores, slug, version)
    const change = () => stores.releases.withdraw({ slug, version: '1.1.0' })
    expect(await toldAfter(stores, slug, change)).toEqual(['1.0.0', '1.0.0'])
  })
})
