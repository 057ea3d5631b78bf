import { randomBytes, randomUUID } from 'node:crypto'
import { isUnreadable } from '@strongroom/kit/secret-box'
import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createEnvelope } from '../../src/envelope/envelope.ts'
import { branchKeyVersionOf } from '../../src/envelope/edk.ts'
import type { BranchKeyMaterials } from '../../src/store/key-store.ts'
import { openEnvelope, TTL_SECONDS } from '../support/open-envelope.ts'

const plaintext = new Uint8Array(randomBytes(40))

/** A place of a tenant that has no branch key yet. */
function newPlace() {
  return { service: 'ferryhook', tenant: randomUUID(), entity: 'src_1', attribute: 'secret' }
}

describe.each(everyStore())('the envelope on $name', (store) => {
  const opened = openEnvelope(store)

  test('makes the branch key of a tenant when its first secret is sealed', async () => {
    const { envelope, keyStore } = opened
    const place = newPlace()
    const branchKeyIdentifier = `ferryhook:${place.tenant}`
    await expect(keyStore.getActiveBranchKey({ branchKeyIdentifier })).rejects.toMatchObject({
      name: 'BranchKeyNotFound',
    })
    const sealed = await envelope.seal(plaintext, place)
    expect(await keyStore.getActiveBranchKey({ branchKeyIdentifier })).toMatchObject({
      branchKeyVersion: versionIn(sealed),
      encryptionContext: { service: 'ferryhook', tenant: place.tenant },
    })
    expect(await envelope.open(sealed, place)).toEqual(plaintext)
  })

  test('seals fifty concurrent first secrets under one key, created once and read once', async () => {
    const { envelope, kmsCalls } = opened
    const place = newPlace()
    kmsCalls.length = 0
    const sealed = await Promise.all(
      Array.from({ length: 50 }, () => envelope.seal(plaintext, place)),
    )
    expect(kmsCalls.map(([operation]) => operation)).toEqual([
      'generateDataKeyWithoutPlaintext',
      'reEncrypt',
      'generateDataKeyWithoutPlaintext',
      'decrypt',
    ])
    expect(new Set(sealed.map(versionIn)).size).toBe(1)
    for (const each of sealed) expect(await envelope.open(each, place)).toEqual(plaintext)
  })

  test('seals first secrets on several servers concurrently, and each opens them all', async () => {
    const servers = [opened.another(), opened.another(), opened.another()]
    const place = newPlace()
    const sealed = await Promise.all(
      Array.from({ length: 5 }, () => servers.map((each) => each.seal(plaintext, place))).flat(),
    )
    for (const server of servers) {
      for (const each of sealed) expect(await server.open(each, place)).toEqual(plaintext)
    }
  })

  test('asks KMS for nothing while it knows the keys', async () => {
    const { envelope, kmsCalls } = opened
    const place = newPlace()
    await envelope.open(await envelope.seal(plaintext, place), place)
    kmsCalls.length = 0
    await envelope.open(await envelope.seal(plaintext, place), place)
    expect(kmsCalls).toEqual([])
  })

  test('opens what was sealed before rotations, and seals under the new version in time', async () => {
    const { envelope, keyStore, clock } = opened
    const place = newPlace()
    const sealed = [await envelope.seal(plaintext, place)]
    for (let round = 0; round < 2; round++) {
      const { branchKeyVersion } = await keyStore.versionKey({
        branchKeyIdentifier: `ferryhook:${place.tenant}`,
      })
      clock.advance({ seconds: TTL_SECONDS })
      const next = await envelope.seal(plaintext, place)
      expect(versionIn(next)).toBe(branchKeyVersion)
      sealed.push(next)
    }
    expect(new Set(sealed.map(versionIn)).size).toBe(3)
    for (const server of [envelope, opened.another()]) {
      for (const each of sealed) expect(await server.open(each, place)).toEqual(plaintext)
    }
  })

  test('asks KMS for nothing when a secret lies at another place', async () => {
    const { kmsCalls } = opened
    const server = opened.another()
    const place = newPlace()
    const sealed = await opened.envelope.seal(plaintext, place)
    kmsCalls.length = 0
    const elsewhere = [newPlace(), { ...place, entity: 'src_2' }, { ...place, attribute: 'other' }]
    for (const each of elsewhere) {
      await expect(server.open(sealed, each)).rejects.toSatisfy(isUnreadable)
    }
    expect(kmsCalls).toEqual([])
  })

  test('does not open what was sealed under a version that is nowhere', async () => {
    const place = newPlace()
    const sealed = await opened.envelope.seal(plaintext, place)
    const at = edkIn(sealed) + 28
    sealed.set(randomBytes(16), at)
    await expect(opened.envelope.open(sealed, place)).rejects.toMatchObject({
      name: 'EnvelopeUnreadable',
      cause: { name: 'BranchKeyNotFound' },
    })
  })

  test('lets the trouble of KMS be seen as what it is, and recovers from it', async () => {
    const { envelope, kms, arn } = opened
    const place = newPlace()
    const tenant = { ...place, tenant: randomUUID() }
    const sealed = await envelope.seal(plaintext, place)
    await kms.disableKey({ KeyId: arn })
    const outcomes = await Promise.allSettled([
      opened.another().open(sealed, place),
      envelope.seal(plaintext, tenant),
    ])
    await kms.enableKey({ KeyId: arn })
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected' })
      expect(outcome).not.toMatchObject({ reason: { name: 'EnvelopeUnreadable' } })
    }
    expect(await envelope.open(await envelope.seal(plaintext, tenant), tenant)).toEqual(plaintext)
  })

  test('wipes every copy of a branch key that it was given', async () => {
    const { keyStore } = opened
    const given: BranchKeyMaterials[] = []
    const remember = async (materials: Promise<BranchKeyMaterials>) => {
      given.push(await materials)
      return materials
    }
    const envelope = createEnvelope({
      keyStore,
      branchKeys: {
        getActiveBranchKey: (input) => remember(keyStore.getActiveBranchKey(input)),
        getBranchKeyVersion: (input) => remember(keyStore.getBranchKeyVersion(input)),
      },
    })
    const place = newPlace()
    const sealed = await envelope.seal(plaintext, place)
    await envelope.open(sealed, place)
    await expect(envelope.open(sealed.subarray(0, -1), place)).rejects.toThrow()
    const wiped = new Uint8Array(32)
    expect(given.map(({ branchKey }) => branchKey)).toEqual([wiped, wiped, wiped])
  })

  test('names neither the tenant nor the entity when it refuses', async () => {
    const place = { ...newPlace(), entity: 'very-private' }
    const sealed = await opened.envelope.seal(plaintext, place)
    const error = await opened.envelope
      .open(sealed.subarray(1), place)
      .catch((thrown: unknown) => String(thrown))
    expect(error).toMatch(/^EnvelopeUnreadable: The secret cannot be decrypted/)
    expect(error).not.toContain(place.tenant)
    expect(error).not.toContain('very-private')
  })
})

/** Where the wrapped data key begins: after the provider's name, the id and the length. */
function edkIn(sealed: Uint8Array): number {
  const bytes = Buffer.from(sealed)
  const idAt = bytes.indexOf('aws-kms-hierarchy') + 'aws-kms-hierarchy'.length
  return idAt + 2 + bytes.readUInt16BE(idAt) + 2
}

function versionIn(sealed: Uint8Array): string {
  const at = edkIn(sealed)
  return branchKeyVersionOf(Buffer.from(sealed.slice(at, at + 92)))
}
