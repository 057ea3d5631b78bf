import { randomBytes } from 'node:crypto'
import type { Db } from '@strongroom/kit/db'
import { expect, test } from 'vitest'
import { CHUNK_BYTES, MAX_PACKAGE_BYTES } from '../../src/releases/item.ts'
import { onEveryStore, onServiceStoresAndHostile } from '../support/on-every-store.ts'
import { createTestStores, hash, START_ISO, type TestStores } from '../support/test-stores.ts'

let slugs = 0
const newSlug = () => `plugin-${++slugs}`
const signature = Buffer.alloc(64, 7).toString('base64')

const release = (slug: string, version: string, zip: Uint8Array) => ({
  slug,
  version,
  details: { requires_wp: '5.8', sections: { changelog: '<ul><li>…</li></ul>' } },
  sha256: hash(Buffer.from(zip).toString('base64')),
  signature,
})

function signal() {
  let give: () => void = () => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

async function packageOf({ releases }: TestStores, slug: string, version: string) {
  const found = await releases.get({ slug, version })
  const chunks: Uint8Array[] = []
  if (found) for await (const chunk of releases.package(found)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

onEveryStore('a release', (newStores) => {
  test('is stored with its package in chunks of 350 KB, which are read back unchanged', async () => {
    const stores = newStores()
    const slug = newSlug()
    const zip = randomBytes(2 * CHUNK_BYTES + 5)
    expect(await stores.releases.publish(release(slug, '1.2.0', zip), zip)).toEqual({
      kind: 'published',
    })
    const stored = await stores.raw(`PLUGIN#${slug}`, 'VERSION#1.2.0')
    expect(stored).toEqual({
      PK: `PLUGIN#${slug}`,
      SK: 'VERSION#1.2.0',
      ...release(slug, '1.2.0', zip),
      status: 'published',
      file_size: zip.byteLength,
      chunks: 3,
      created_at: START_ISO,
      published_at: START_ISO,
      upload_id: expect.any(String),
    })
    const last = await stores.raw(`PACKAGE#${slug}#1.2.0`, '0002')
    expect(last).toEqual({
      PK: `PACKAGE#${slug}#1.2.0`,
      SK: '0002',
      data: new Uint8Array(zip.subarray(-5)),
    })
    expect((await packageOf(stores, slug, '1.2.0')).equals(zip)).toBe(true)
  })

  test('is published once and never changes', async () => {
    const stores = newStores()
    const slug = newSlug()
    const [zip, other] = [randomBytes(100), randomBytes(100)]
    expect(await stores.releases.publish(release(slug, '1.0.0', zip), zip)).toEqual({
      kind: 'published',
    })
    stores.clock.advance({ days: 1 })
    expect(await stores.releases.publish(release(slug, '1.0.0', other), other)).toEqual({
      kind: 'conflict',
    })
    expect((await packageOf(stores, slug, '1.0.0')).equals(zip)).toBe(true)
  })

  test('whose upload was interrupted does not exist, and can be uploaded again after a while', async () => {
    const stores = newStores()
    const slug = newSlug()
    const zip = randomBytes(CHUNK_BYTES + 1)
    let writes = 0
    const broken = createTestStores(
      {
        ...stores.db,
        transactWriteItems(input) {
          if (++writes > 1) throw new Error('The machine is gone')
          return stores.db.transactWriteItems(input)
        },
      },
      stores.clock,
    )
    await expect(broken.releases.publish(release(slug, '2.0.0', zip), zip)).rejects.toThrow('gone')
    expect(await stores.releases.get({ slug, version: '2.0.0' })).toBeUndefined()
    expect(await stores.releases.list(slug)).toEqual([])
    expect(await stores.releases.publish(release(slug, '2.0.0', zip), zip)).toEqual({
      kind: 'conflict',
    })
    stores.clock.advance({ minutes: 15 })
    expect(await stores.releases.publish(release(slug, '2.0.0', zip), zip)).toEqual({
      kind: 'published',
    })
    expect((await packageOf(stores, slug, '2.0.0')).equals(zip)).toBe(true)
  })

  test('whose upload was taken over gets no more chunks of the first one', async () => {
    const stores = newStores()
    const slug = newSlug()
    const [slow, quick] = [randomBytes(2 * CHUNK_BYTES), randomBytes(2 * CHUNK_BYTES)]
    const [claimed, slowEnded] = [signal(), signal()]
    const waiting = {
      ...stores.db,
      async transactWriteItems(input: Parameters<Db['transactWriteItems']>[0]) {
        claimed.give()
        await slowEnded.given
        return stores.db.transactWriteItems(input)
      },
    }
    const publishQuick = () =>
      createTestStores(waiting, stores.clock).releases.publish(release(slug, '3.0.0', quick), quick)
    let chunks = 0
    const taken: Promise<object>[] = []
    const stalling = {
      ...stores.db,
      async transactWriteItems(input: Parameters<Db['transactWriteItems']>[0]) {
        if (++chunks === 2) {
          stores.clock.advance({ minutes: 15 })
          taken.push(publishQuick())
          await claimed.given
        }
        return stores.db.transactWriteItems(input)
      },
    }
    const slowWorld = createTestStores(stalling, stores.clock)
    expect(await slowWorld.releases.publish(release(slug, '3.0.0', slow), slow)).toEqual({
      kind: 'conflict',
    })
    slowEnded.give()
    expect(await Promise.all(taken)).toEqual([{ kind: 'published' }])
    expect((await packageOf(stores, slug, '3.0.0')).equals(quick)).toBe(true)
  })

  test('is listed with the highest version first, as WordPress compares them', async () => {
    const { releases } = newStores()
    const slug = newSlug()
    const zip = randomBytes(10)
    for (const version of ['1.2.0', '1.10.0', '2.0.0-beta1', '1.9.3', '2.0.0']) {
      await releases.publish(release(slug, version, zip), zip)
    }
    const versions = (await releases.list(slug)).map(({ version }) => version)
    expect(versions).toEqual(['2.0.0', '2.0.0-beta1', '1.10.0', '1.9.3', '1.2.0'])
  })

  test('can be withdrawn, once', async () => {
    const { releases } = newStores()
    const name = { slug: newSlug(), version: '1.0.0' }
    const zip = randomBytes(10)
    await releases.publish(release(name.slug, name.version, zip), zip)
    expect(await releases.withdraw(name)).toBe(true)
    expect(await releases.withdraw(name)).toBe(false)
    expect(await releases.get(name)).toMatchObject({ status: 'withdrawn' })
  })

  test('that is empty or larger than 20 MB is rejected before anything is stored', async () => {
    const { releases, raw } = newStores()
    const slug = newSlug()
    for (const zip of [new Uint8Array(MAX_PACKAGE_BYTES + 1), new Uint8Array()]) {
      await expect(releases.publish(release(slug, '1.0.0', zip), zip)).rejects.toMatchObject({
        name: 'ItemMismatch',
        attributes: expect.arrayContaining(['file_size']),
      })
    }
    expect(await raw(`PLUGIN#${slug}`, 'VERSION#1.0.0')).toBeUndefined()
  })

  test('whose package has lost a chunk fails to download instead of being truncated', async () => {
    const stores = newStores()
    const slug = newSlug()
    const zip = randomBytes(CHUNK_BYTES + 1)
    await stores.releases.publish(release(slug, '1.0.0', zip), zip)
    await stores.db.deleteItem({
      TableName: 'form-bridge-plugin-auth',
      Key: { PK: `PACKAGE#${slug}#1.0.0`, SK: '0001' },
    })
    await expect(packageOf(stores, slug, '1.0.0')).rejects.toThrow('has no chunk 1')
  })

  test('that is the newest is cached for its own plugin only', async () => {
    const { versionCache } = newStores()
    await versionCache.put({ slug: 'form-bridge', version: '4.1.0' })
    expect(await versionCache.latest('form-bridge')).toEqual({
      slug: 'form-bridge',
      version: '4.1.0',
    })
    expect(await versionCache.latest('other')).toBeUndefined()
    expect(await versionCache.find('4.1.0')).toMatchObject({ slug: 'form-bridge' })
    await versionCache.clear()
    expect(await versionCache.latest('form-bridge')).toBeUndefined()
  })
})

const hostility = { conflict: 0.2, throttle: 0.2 }

onServiceStoresAndHostile('two concurrent uploads of one version', hostility, (newStores) => {
  test('publish one of the packages and mix no chunks', async () => {
    const stores = newStores()
    const slug = newSlug()
    const zips = [randomBytes(2 * CHUNK_BYTES), randomBytes(2 * CHUNK_BYTES)]
    const outcomes = await Promise.all(
      zips.map((zip) => stores.releases.publish(release(slug, '1.0.0', zip), zip)),
    )
    const isPublished = outcomes.map(({ kind }) => kind === 'published')
    expect(isPublished.filter(Boolean)).toHaveLength(1)
    const winner = zips[isPublished.indexOf(true)]
    expect((await packageOf(stores, slug, '1.0.0')).equals(winner ?? Buffer.alloc(0))).toBe(true)
  })
})
